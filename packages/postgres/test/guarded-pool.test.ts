import { guardedPool, postgresStore } from '@paylink/postgres';
import { Pool, type PoolClient } from 'pg';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { credit, latch, Shop, transaction } from './shop.js';

let shop: Shop;
beforeAll(async () => {
  shop = await Shop.open();
}, 120_000);
afterEach(() => shop.rest());
afterAll(() => shop.close());

describe('a guarded pool', () => {
  it('is the pool, but for its connections', async () => {
    const pool = shop.pool();
    const guarded = guardedPool(pool);
    expect(guarded).toBeInstanceOf(Pool);
    expect((await guarded.query('SELECT 1 AS one')).rows).toEqual([{ one: 1 }]);
    const client = await guarded.connect();
    expect((await client.query('SELECT 2 AS two')).rows).toEqual([{ two: 2 }]);
    expect([guarded.totalCount, guarded.idleCount]).toEqual([pool.totalCount, pool.idleCount]);
    client.release();
    expect(guarded.eventNames()).toEqual(pool.eventNames());
    // A caller with a callback gets what it would get of the pool, which refuses nothing after a COMMIT.
    const bare = await new Promise<PoolClient>((resolve, reject) => {
      guarded.connect((error, found) => (found === undefined ? reject(error!) : resolve(found)));
    });
    await bare.query('COMMIT');
    expect((await bare.query('SELECT 3 AS three')).rows).toEqual([{ three: 3 }]);
    bare.release();
    await shop.expectAtRest(pool);
  });

  it('gives a connection back as its user says: to be kept, without the listeners of the store, or to be closed', async () => {
    const pool = shop.pool({ max: 1 });
    const guarded = guardedPool(pool);
    const kept = await guarded.connect();
    const listeners = kept.listenerCount('error');
    kept.release();
    const again = await pool.connect();
    expect([pool.totalCount, again.listenerCount('error')]).toEqual([1, listeners - 1]);
    again.release();
    (await guarded.connect()).release(true);
    expect(pool.totalCount).toBe(0);
    await shop.expectAtRest(pool);
  });

  it('refuses what comes after the end of a transaction until the next begins, and all when it has gone back (G03)', async () => {
    const pool = shop.pool({ max: 1 });
    const client = await guardedPool(pool).connect();
    for (const end of ['COMMIT', 'rollback']) {
      await client.query('BEGIN');
      await client.query(end);
      expect(() => client.query('SELECT 1')).toThrow('the transaction is over');
    }
    await client.query('begin');
    await client.query('SAVEPOINT one');
    await client.query('ROLLBACK TO SAVEPOINT one');
    await client.query('SELECT 1');
    await client.query('commit');
    client.release();
    const next = await pool.connect();
    expect(() => client.query('BEGIN')).toThrow('the transaction is over');
    next.release();
  });

  it('stops what a handler kept of the transaction of an ORM, where a guard around `tx` alone would not (G03)', async () => {
    const pool = shop.pool({ max: 1 });
    const reference = await shop.order();
    const timeIsOver = latch();
    const guarded = guardedPool(pool);
    let late: Promise<unknown> | undefined;
    // A nested transaction, as Drizzle's: `tx` made the inner one before the end, and that knows nothing of any guard.
    const store = postgresStore(
      {
        transaction: (work: (tx: { nested: () => PoolClient }) => Promise<void>) =>
          transaction(guarded, (tx) => work({ nested: () => tx })),
      },
      { query: async (tx, sql) => (await (tx?.nested() ?? pool).query<object>(sql)).rows },
    );
    const controller = new AbortController();
    const run = store.run(
      reference,
      async ({ tx }) => {
        const inner = tx.nested();
        await credit(inner, reference);
        late = timeIsOver.opened.then(() => credit(inner, reference)).catch((error: unknown) => error);
        controller.abort(new Error('over'));
        await new Promise(() => undefined);
      },
      { signal: controller.signal },
    );
    await expect(run).rejects.toThrow('over');
    timeIsOver.open();
    expect(await late).toMatchObject({ message: expect.stringContaining('the transaction is over') as string });
    expect(await shop.creditsOf(reference)).toBe(0);
    await shop.expectAtRest(pool);
  });

  it('does not end the process when a connection breaks that an ORM holds', async () => {
    const pool = shop.pool();
    const client = await guardedPool(pool).connect();
    const { rows } = await client.query<{ pid: number }>('SELECT pg_backend_pid() AS pid');
    await shop.admin.query('SELECT pg_terminate_backend($1)', [rows[0]!.pid]);
    await vi.waitFor(() => expect(client.query('SELECT 1')).rejects.toThrow(), 10_000);
    client.release();
    await shop.expectAtRest(pool);
  });
});
