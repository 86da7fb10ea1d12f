import { setTimeout as pause } from 'node:timers/promises';
import { ConfigurationError } from '@paylink/core';
import { postgresStore, type RunSql } from '@paylink/postgres';
import type { PoolClient } from 'pg';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { credit, latch, neverAborted, Shop } from './shop.js';

let shop: Shop;
beforeAll(async () => {
  shop = await Shop.open();
}, 120_000);
afterEach(() => shop.rest());
afterAll(() => shop.close());

function listening() {
  const warn = vi.fn<(message: string) => void>();
  return { logger: { warn }, warn };
}

describe('a handler that writes through the pool', () => {
  it('is logged by its cause when 30 orders come at once, and then leaves a connection to handlers (N11)', async () => {
    const pool = shop.pool({ max: 10 });
    const { logger, warn } = listening();
    const throughPool = (_: PoolClient, reference: string) => credit(pool, reference);
    const deliver = shop.receiver(pool, throughPool, { logger, handlerTimeout: 1_000 });
    const stuck = await Promise.all(Array.from({ length: 30 }, () => shop.order()));
    const statuses = await Promise.all(stuck.map(deliver));
    expect(statuses).toContain(503);
    expect(warn).toHaveBeenCalledOnce();
    expect(warn).toHaveBeenCalledWith(expect.stringContaining('handlers wait for connections that their own transactions hold'));
    expect(warn).toHaveBeenCalledWith(expect.stringContaining('at most 9 of the pool'));
    await shop.expectAtRest(pool);

    const next = await Promise.all(Array.from({ length: 30 }, () => shop.order()));
    expect(new Set(await Promise.all(next.map(deliver)))).toEqual(new Set([200]));
    expect(await Promise.all(next.map((reference) => shop.creditsOf(reference)))).toEqual(next.map(() => 1));
    expect(warn).toHaveBeenCalledOnce();
    await shop.expectAtRest(pool);
  });

  it('is logged once when it ends in time, and from then on all stores of the pool leave one connection (N11)', async () => {
    const pool = shop.pool({ max: 3 });
    const { logger, warn } = listening();
    const [first, second] = [postgresStore(pool, { logger }), postgresStore(pool, { logger })];
    const reference = await shop.order();
    for (const key of ['one', 'two']) {
      expect(await first.run(key, () => credit(pool, reference), { signal: neverAborted })).toBe('done');
    }
    expect(warn).toHaveBeenCalledExactlyOnceWith(expect.stringContaining('a handler ended without using `tx`'));
    const over = latch();
    const atWork = vi.fn();
    const runs = [first, second, first].map((store, number) =>
      store.run(
        `one of three: ${number}`,
        async ({ tx }) => {
          await credit(tx, reference);
          atWork();
          await over.opened;
        },
        { signal: neverAborted },
      ),
    );
    // Different orders would not wait for each other; these do, at the row.
    await vi.waitFor(() => expect(pool.totalCount - pool.idleCount).toBe(2), 10_000);
    // The third connection is free for handlers.
    expect((await pool.query('SELECT 1 AS one')).rows).toEqual([{ one: 1 }]);
    expect(pool.totalCount - pool.idleCount).toBe(2);
    over.open();
    expect(await Promise.all(runs)).toEqual(['done', 'done', 'done']);
    expect(atWork).toHaveBeenCalledTimes(3);
    await shop.expectAtRest(pool);
  });

  it('is logged without a number of connections, where the pool shows none (N11)', async () => {
    const pool = shop.pool();
    const { logger, warn } = listening();
    const plain = { connect: () => pool.connect(), query: (query: { text: string }) => pool.query(query) };
    expect(await postgresStore(plain, { logger }).run('plain', () => Promise.resolve(), { signal: neverAborted })).toBe('done');
    expect(warn).toHaveBeenCalledExactlyOnceWith(expect.stringMatching(/Write through `tx`$/));
    await shop.expectAtRest(pool);
  });

  it('gives an aborted run its place back (N11)', async () => {
    const pool = shop.pool({ max: 2 });
    const { logger } = listening();
    const store = postgresStore(pool, { logger });
    await store.run('unused', () => Promise.resolve(), { signal: neverAborted });
    const over = latch();
    const holding = latch();
    const first = store.run(
      'first',
      async () => {
        holding.open();
        await over.opened;
      },
      { signal: neverAborted },
    );
    await holding.opened;
    const controller = new AbortController();
    const second = store.run('second', () => Promise.resolve(), { signal: controller.signal });
    const third = store.run('third', () => Promise.resolve(), { signal: neverAborted });
    controller.abort(new Error('over'));
    await expect(second).rejects.toThrow('over');
    over.open();
    expect(await Promise.all([first, third])).toEqual(['done', 'done']);
    await shop.expectAtRest(pool);
  });
});

describe('`tx` after its handler has returned', () => {
  it('is refused and logged, by a forEach that nothing awaits (N13)', async () => {
    const { logger, warn } = listening();
    const reference = await shop.order();
    const refused: unknown[] = [];
    const done = latch();
    const deliver = shop.receiver(
      shop.pool(),
      async (tx) => {
        await tx.query('SELECT 1');
        ['first', 'second'].forEach((_, index) => {
          void pause(10 + index)
            .then(() => credit(tx, reference))
            .catch((error: unknown) => refused.push(error))
            .then(() => refused.length === 2 && done.open());
        });
      },
      { logger },
    );
    expect(await deliver(reference)).toBe(200);
    await done.opened;
    expect(await shop.creditsOf(reference)).toBe(0);
    expect(warn).toHaveBeenCalledWith(expect.stringContaining('Await every statement'));
    expect(String(refused[0])).toContain('the transaction is over');
  });

  it('is refused without a word when the handler failed or its time was over: the event is not done (N13)', async () => {
    const { logger, warn } = listening();
    const reference = await shop.order();
    let kept!: PoolClient;
    const failing = shop.receiver(
      shop.pool(),
      async (tx) => {
        kept = tx;
        await credit(tx, reference);
        throw new Error('no stock');
      },
      { logger },
    );
    expect(await failing(reference)).toBe(500);
    expect(() => kept.query('SELECT 1')).toThrow('the transaction is over');
    expect(warn).not.toHaveBeenCalled();
  });
});

describe('a pool without a free connection', () => {
  it('is said to be exhausted, when its own time limit ends the wait', async () => {
    const pool = shop.pool({ max: 1, connectionTimeoutMillis: 50 });
    const store = postgresStore(pool);
    await store.isDone('warm');
    const held = await pool.connect();
    const exhausted = 'the pool is exhausted: all 1 connections are in use, 0 of them by transactions of the store';
    await expect(store.isDone('a key')).rejects.toThrow(exhausted);
    await expect(store.run('a key', () => Promise.resolve(), { signal: neverAborted })).rejects.toThrow('the pool is exhausted');
    held.release();
    await shop.expectAtRest(pool);
  });

  it('is said to be exhausted, when a read gets no answer', async () => {
    const pool = shop.pool({ max: 1 });
    const store = postgresStore(pool);
    await store.isDone('warm');
    const held = await pool.connect();
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    try {
      const read = store.isDone('a key').catch(String);
      await vi.advanceTimersByTimeAsync(10_000);
      expect(await read).toContain('the pool is exhausted: all 1 connections are in use');
      expect(await read).toContain('1 requests wait for one (waited 10000 ms)');
    } finally {
      vi.useRealTimers();
    }
    held.release();
    await shop.expectAtRest(pool);
  });
});

it('refuses to migrate a server that is too old, with a sentence (N21)', async () => {
  // What PostgreSQL 12 answers to `current_setting('server_version_num')`.
  const query: RunSql<object> = () => Promise.resolve([{ version: 120_022, exists: false }]);
  const migrating = postgresStore({ transaction: () => Promise.resolve() }, { query }).migrate();
  await expect(migrating).rejects.toBeInstanceOf(ConfigurationError);
  await expect(migrating).rejects.toThrow('leads to PostgreSQL 12; the store needs PostgreSQL 13 or newer');
});
