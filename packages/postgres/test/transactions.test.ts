import { setTimeout as pause } from 'node:timers/promises';
import { WebhookError } from '@paylink/core';
import { postgresStore, type PostgresStore } from '@paylink/postgres';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import type { Fault } from '../../../lab/durability/wire-proxy.js';
import { startPostgres } from '../../../test/servers/postgres.js';
import {
  credit,
  keyOf,
  latch,
  neverAborted,
  runOf,
  Shop,
  silent as logger,
  type Tx,
} from './shop.js';

let shop: Shop;
beforeAll(async () => {
  shop = await Shop.open({ deadlock_timeout: '50ms', max_connections: 40 });
}, 120_000);
afterEach(() => shop.rest());
afterAll(() => shop.close());

const until = (condition: () => unknown): Promise<void> =>
  vi.waitFor(async () => expect(await condition()).toBe(true), { timeout: 10_000, interval: 5 });

/** Credits one order in a store, straight. */
async function run(
  store: PostgresStore<Tx>,
  reference: string,
  { signal = neverAborted, kind, work = credit }: Partial<RunParts> = {},
): Promise<string> {
  const working = async (tx: Tx): Promise<void> => void (await work(tx, reference));
  return store.run(keyOf(reference, kind), working, runOf(reference, signal));
}

interface RunParts {
  readonly signal: AbortSignal;
  readonly kind: string;
  readonly work: (tx: Tx, reference: string) => unknown;
}

describe('a delivery', () => {
  it('credits once, even if it comes often', async () => {
    const pool = shop.pool();
    const deliver = shop.receiver(pool);
    const reference = await shop.order();
    for (let time = 0; time < 4; time += 1) expect(await deliver(reference)).toBe(200);
    expect(await shop.creditsOf(reference)).toBe(1);
    await shop.expectAtRest(pool);
  });

  it('is credited once if it comes 100 times at once, and every copy gets an answer', async () => {
    const pool = shop.pool();
    const crediting = vi.fn(credit);
    const deliver = shop.receiver(pool, crediting);
    const reference = await shop.order();
    const statuses = await Promise.all(Array.from({ length: 100 }, () => deliver(reference)));
    expect(new Set(statuses)).toEqual(new Set([200]));
    expect(crediting).toHaveBeenCalledTimes(1);
    expect(await shop.creditsOf(reference)).toBe(1);
    await shop.expectAtRest(pool);
  });

  it('is credited once if 100 copies come at once to two independent stores', async () => {
    const pools = [shop.pool(), shop.pool()];
    const slowly = async (tx: Tx, reference: string): Promise<number> => {
      const count = await credit(tx, reference);
      await tx.query('SELECT pg_sleep(0.05)');
      return count;
    };
    const [first, second] = pools.map((pool) => shop.receiver(pool, slowly));
    const reference = await shop.order();
    const statuses = await Promise.all(
      Array.from({ length: 100 }, (_, index) => (index % 2 === 0 ? first! : second!)(reference)),
    );
    expect(statuses.filter((status) => status !== 200 && status !== 503)).toEqual([]);
    expect(statuses).toContain(200);
    for (const deliver of [first!, second!]) expect(await deliver(reference)).toBe(200);
    expect(await shop.creditsOf(reference)).toBe(1);
    for (const pool of pools) await shop.expectAtRest(pool);
  });

  it('gets 503 at once while another process works on it', async () => {
    const { opened, open } = latch();
    const atIt = latch();
    const slow = shop.receiver(shop.pool(), async (tx, reference) => {
      const count = await credit(tx, reference);
      atIt.open();
      await opened;
      return count;
    });
    const reference = await shop.order();
    const first = slow(reference);
    await atIt.opened;
    const crediting = vi.fn(credit);
    expect(await shop.receiver(shop.pool(), crediting)(reference)).toBe(503);
    open();
    expect(await first).toBe(200);
    expect(crediting).not.toHaveBeenCalled();
    expect(await shop.creditsOf(reference)).toBe(1);
  });

  it('leaves the pool to other orders while replays of a slow one wait', async () => {
    const pool = shop.pool({ max: 3 });
    const { opened, open } = latch();
    const slowOne = await shop.order();
    const atIt = latch();
    const deliver = shop.receiver(pool, async (tx, reference) => {
      const count = await credit(tx, reference);
      if (reference === slowOne) {
        atIt.open();
        await opened;
      }
      return count;
    });
    const replays = [deliver(slowOne)];
    await atIt.opened;
    replays.push(...Array.from({ length: 10 }, () => deliver(slowOne)));
    const other = await shop.order();
    expect(await deliver(other)).toBe(200);
    expect(pool.waitingCount).toBe(0);
    open();
    expect(new Set(await Promise.all(replays))).toEqual(new Set([200]));
    expect([await shop.creditsOf(slowOne), await shop.creditsOf(other)]).toEqual([1, 1]);
  });

  it('is a duplicate if another process wrote the mark during the credit', async () => {
    // As if the lock had failed: the primary key alone decides.
    const store = postgresStore(shop.pool(), { logger });
    const reference = await shop.order();
    const mark = "INSERT INTO paylink_marks (key) VALUES (decode($1, 'hex'))";
    const work = async (tx: Tx): Promise<void> => {
      await credit(tx, reference);
      await shop.admin.query(mark, [keyOf(reference)]);
    };
    expect(await run(store, reference, { work })).toBe('duplicate');
    expect(await shop.creditsOf(reference)).toBe(0);
  });

  it('costs two messages beside the statements of the credit', async () => {
    const { pool, proxy } = await shop.faultyPool();
    const store = postgresStore(pool, { logger });
    await run(store, await shop.order());
    // The first message of the process asks where the table is.
    expect(proxy.statements.shift()).toMatch(/^SELECT n\.nspname/);
    expect(proxy.statements).toHaveLength(3);
    proxy.statements.length = 0;
    const reference = await shop.order();
    await run(store, reference);
    expect(proxy.statements).toEqual([
      expect.stringMatching(/^BEGIN; SELECT CASE/),
      expect.stringMatching(/^UPDATE orders/),
      expect.stringMatching(/INSERT INTO "public"."paylink_marks".*; COMMIT$/s),
    ]);
    // Only a digest of the reference goes into the store's own SQL.
    expect(proxy.statements[0]).toContain(keyOf(reference));
  });

  it.each([
    [undefined, 'read committed'],
    ['read committed', 'read committed'],
    ['repeatable read', 'repeatable read'],
    ['serializable', 'serializable'],
  ] as const)('is credited under the isolation of the option %s', async (isolation, expected) => {
    const store = postgresStore(shop.pool(), { isolation, logger });
    const shown: unknown[] = [];
    const work = async (tx: Tx): Promise<void> => {
      shown.push(...(await tx.query<object>('SHOW transaction_isolation')).rows);
    };
    expect(await run(store, await shop.order(), { work })).toBe('done');
    expect(shown).toEqual([{ transaction_isolation: expected }]);
  });

  it('is credited as one of 100 serializable orders at once, because no store reads a page of another', async () => {
    const deliver = shop.receiver(shop.pool({ max: 10 }), credit, { isolation: 'serializable' });
    const orders = await Promise.all(Array.from({ length: 100 }, () => shop.order()));
    const statuses = await Promise.all(orders.map(deliver));
    expect(statuses.filter((status) => status !== 200)).toEqual([]);
  });
});

describe('two kinds of events of one reference', () => {
  it('take turns without a connection, and never take the result of each other', async () => {
    const pool = shop.pool({ max: 1 });
    const store = postgresStore(pool, { logger });
    const reference = await shop.order();
    const paying = latch();
    const paid = latch();
    const order: string[] = [];
    const kindOf = (kind: string, work: RunParts['work'], signal = neverAborted): Promise<string> =>
      run(store, reference, {
        kind,
        signal,
        work: (tx) => {
          order.push(kind);
          return work(tx, reference);
        },
      });
    const payment = kindOf('payment', async (tx) => {
      await credit(tx, reference);
      paying.open();
      await paid.opened;
    });
    await paying.opened;
    const undo = 'UPDATE orders SET credited = credited - 1 WHERE reference = $1';
    const refund = kindOf('refund', (tx) => tx.query(undo, [reference]));
    const duplicate = kindOf('payment', () => Promise.reject(new Error('paid twice')));
    const aborted = new AbortController();
    const late = () => Promise.reject(new Error('ran after the abort'));
    const gone = kindOf('dispute', late, aborted.signal);
    aborted.abort(new Error('over'));
    await expect(gone).rejects.toThrow('over');
    expect(pool.waitingCount).toBe(0);
    expect(order).toEqual(['payment']);
    paid.open();
    expect(await Promise.all([payment, refund, duplicate])).toEqual(['done', 'done', 'duplicate']);
    expect(order).toEqual(['payment', 'refund']);
    expect(await shop.creditsOf(reference)).toBe(0);
    await shop.expectAtRest(pool);
  });

  it('are rejected at once while another process works on either of them', async () => {
    const atWork = latch();
    const over = latch();
    const reference = await shop.order();
    const first = run(postgresStore(shop.pool(), { logger }), reference, {
      kind: 'payment',
      work: async (tx) => {
        await credit(tx, reference);
        atWork.open();
        await over.opened;
      },
    });
    await atWork.opened;
    const other = postgresStore(shop.pool(), { logger });
    const work = vi.fn(credit);
    for (const kind of ['refund', 'payment']) {
      expect(await run(other, reference, { kind, work })).toBe('in_progress');
    }
    expect(work).not.toHaveBeenCalled();
    over.open();
    expect(await first).toBe('done');
    expect(await run(other, reference, { kind: 'refund', work })).toBe('done');
  });
});

describe('a credit that fails', () => {
  it('leaves neither credit nor mark if it throws, and its own error is rethrown', async () => {
    const pool = shop.pool();
    const store = postgresStore(pool, { logger });
    const reference = await shop.order();
    const error = new WebhookError('unknown_order', { status: 503 });
    const work = async (tx: Tx): Promise<never> => {
      await credit(tx, reference);
      throw error;
    };
    const thrown: unknown = await run(store, reference, { work }).catch(
      (reason: unknown) => reason,
    );
    expect(thrown).toBe(error);
    expect(await shop.creditsOf(reference)).toBe(0);
    expect(await store.isDone(keyOf(reference))).toBe(false);
    await shop.expectAtRest(pool);
  });

  it('is never marked if it swallowed an SQL error', async () => {
    const pool = shop.pool();
    const store = postgresStore(pool, { logger });
    const reference = await shop.order();
    const work = async (tx: Tx): Promise<void> => {
      await credit(tx, reference);
      await tx.query('SELECT 1 / 0').catch(() => undefined);
    };
    for (let time = 0; time < 2; time += 1) {
      await expect(run(store, reference, { work })).rejects.toMatchObject({
        code: 'not_credited',
        message: expect.stringContaining('set a SAVEPOINT before') as string,
      });
    }
    expect(await shop.creditsOf(reference)).toBe(0);
    expect(await shop.receiver(pool)(reference)).toBe(200);
    await shop.expectAtRest(pool);
  });

  it('is never reported as done if the server answers COMMIT with anything else', async () => {
    // As if a proxy between here and the server ended the transaction in its own way.
    const pool = shop.pool();
    pool.on('connect', (client) => {
      const query = client.query.bind(client) as (...values: unknown[]) => unknown;
      const changed = (sql: unknown) =>
        typeof sql === 'string' ? sql.replace(/; COMMIT$/, '; ROLLBACK') : sql;
      Object.assign(client, {
        query: (sql: unknown, ...rest: unknown[]) => query(changed(sql), ...rest),
      });
    });
    const reference = await shop.order();
    const running = run(postgresStore(pool, { logger }), reference);
    await expect(running).rejects.toThrow('the server answered COMMIT with ROLLBACK');
    await expect(running).rejects.toMatchObject({ code: 'not_credited', status: 503 });
    expect(await shop.creditsOf(reference)).toBe(0);
    await shop.expectAtRest(pool);
  });

  it('is reported neither as done nor as duplicate if a deferred constraint fails at COMMIT', async () => {
    const table = 'CREATE TABLE IF NOT EXISTS mails (id int UNIQUE DEFERRABLE INITIALLY DEFERRED)';
    await shop.admin.query(table);
    const store = postgresStore(shop.pool(), { logger });
    const reference = await shop.order();
    const work = async (tx: Tx): Promise<void> => {
      await credit(tx, reference);
      await tx.query('INSERT INTO mails VALUES (1), (1)');
    };
    await expect(run(store, reference, { work })).rejects.toMatchObject({ code: '23505' });
    expect(await shop.creditsOf(reference)).toBe(0);
  });
});

describe('a credit past its time limit', () => {
  it('has no effect if it never settles, and the pool replaces its destroyed connection', async () => {
    const pool = shop.pool({ max: 1 });
    const removed = vi.fn();
    pool.on('remove', removed);
    const reference = await shop.order();
    const hanging = (tx: Tx, order: string) =>
      credit(tx, order).then(() => new Promise(() => undefined));
    expect(await shop.receiver(pool, hanging, { timeout: 200 })(reference)).toBe(503);
    await vi.waitFor(() => expect(removed).toHaveBeenCalledOnce(), 8_000);
    await shop.expectAtRest(pool);
    expect(await shop.creditsOf(reference)).toBe(0);
    expect(await shop.receiver(pool)(reference)).toBe(200);
    expect(await shop.creditsOf(reference)).toBe(1);
  });

  it('cannot write late, neither its own order nor into the next transaction', async () => {
    const pool = shop.pool({ max: 1 });
    const [late, next] = [await shop.order(), await shop.order()];
    const otherAtIt = latch();
    const lateHasTried = latch();
    let refused: unknown;
    const controller = new AbortController();
    const lateRun = run(postgresStore(pool, { logger }), late, {
      signal: controller.signal,
      work: async (tx) => {
        await credit(tx, late);
        controller.abort(new Error('over'));
        await otherAtIt.opened;
        refused = await credit(tx, late).catch((error: unknown) => error);
        lateHasTried.open();
      },
    });
    await expect(lateRun).rejects.toThrow('over');
    const deliver = shop.receiver(pool, async (tx, reference) => {
      otherAtIt.open();
      await lateHasTried.opened;
      return credit(tx, reference);
    });
    expect(await deliver(next)).toBe(200);
    const message = expect.stringContaining('the transaction is over') as string;
    expect(refused).toMatchObject({ message });
    expect([await shop.creditsOf(late), await shop.creditsOf(next)]).toEqual([0, 1]);
    await shop.expectAtRest(pool);
  });

  it('ends its running statement on the server too, so that the order is free', async () => {
    const pool = shop.pool();
    const reference = await shop.order();
    const controller = new AbortController();
    const failed = latch();
    const running = run(postgresStore(pool, { logger }), reference, {
      signal: controller.signal,
      work: async (tx) => {
        await credit(tx, reference);
        await tx.query('SELECT pg_sleep(60)').catch(failed.open);
      },
    });
    const sleeping =
      "SELECT FROM pg_stat_activity WHERE query = 'SELECT pg_sleep(60)' AND state = 'active'";
    await until(async () => (await shop.admin.query(sleeping)).rowCount === 1);
    controller.abort(new Error('over'));
    await expect(running).rejects.toThrow('over');
    await failed.opened;
    const next = shop.receiver(shop.pool());
    const patience = { timeout: 5_000, interval: 20 };
    await vi.waitFor(async () => expect(await next(reference)).toBe(200), patience);
    expect(await shop.creditsOf(reference)).toBe(1);
    await shop.expectAtRest(pool);
  });

  it('is rejected while the pool is exhausted, and does not leak a connection', async () => {
    const pool = shop.pool({ max: 1 });
    const store = postgresStore(pool, { schema: 'public', logger });
    const held = await pool.connect();
    const crediting = vi.fn(credit);
    const reference = await shop.order();
    const controller = new AbortController();
    const waiting = run(store, reference, { signal: controller.signal, work: crediting });
    await until(() => pool.waitingCount === 1);
    controller.abort(new Error('over'));
    await expect(waiting).rejects.toThrow('over');
    held.release();
    await shop.expectAtRest(pool);
    expect(crediting).not.toHaveBeenCalled();
    expect(await run(store, reference)).toBe('done');
    await shop.expectAtRest(pool);
  });

  it('may commit if COMMIT was already sent, and the next delivery then finds the mark', async () => {
    const { pool, proxy } = await shop.faultyPool({ max: 2 });
    const store = postgresStore(pool, { logger });
    const reference = await shop.order();
    const controller = new AbortController();
    let sent = false;
    proxy.fault = (sql) => {
      if (!sql.endsWith('COMMIT')) return undefined;
      sent = true;
      return { kind: 'silent-after' };
    };
    const running = run(store, reference, { signal: controller.signal });
    await until(() => sent);
    await until(async () => (await shop.creditsOf(reference)) === 1);
    controller.abort(new Error('over'));
    await expect(running).rejects.toThrow('over');
    proxy.heal();
    expect(await run(store, reference)).toBe('duplicate');
    expect(await shop.creditsOf(reference)).toBe(1);
    await shop.expectAtRest(pool);
  });
});

describe('a failing server', () => {
  const steps = ['the table', 'the mark', 'claim', 'credit', 'commit'];
  const kinds: Fault['kind'][] = ['cut-before', 'cut-after'];

  it.each(steps.flatMap((step, number) => kinds.map((kind) => ({ step, number, kind }))))(
    'leads to one credit if the connection is $kind at the $step',
    async ({ number, kind, step }) => {
      const { pool, proxy } = await shop.faultyPool();
      const deliver = shop.receiver(pool);
      const reference = await shop.order();
      proxy.strike(number, { kind } as Fault);
      // The credit's own statement fails in the credit, which throws its own error.
      expect(await deliver(reference)).toBe(step === 'credit' ? 500 : 503);
      expect(proxy.statements).toHaveLength(number + 1);
      const lostAnswer = step === 'commit' && kind === 'cut-after';
      await until(async () => (await shop.creditsOf(reference)) === (lostAnswer ? 1 : 0));
      proxy.heal();
      await vi.waitFor(async () => expect(await deliver(reference)).toBe(200), 10_000);
      expect(await shop.creditsOf(reference)).toBe(1);
      await shop.expectAtRest(pool);
    },
  );

  it('does not end the process by closing a connection in the packet that makes it ready', async () => {
    const { pool, proxy } = await shop.faultyPool();
    const deliver = shop.receiver(pool, credit, { schema: 'public' });
    proxy.door = 'ending';
    const reference = await shop.order();
    expect(await deliver(reference)).toBe(503);
    proxy.door = 'open';
    await vi.waitFor(async () => expect(await deliver(reference)).toBe(200), 10_000);
    await shop.expectAtRest(pool);
  });

  it('leads to no credit if it terminates the backend while the credit waits, and the process lives', async () => {
    const pool = shop.pool();
    const reference = await shop.order();
    const deliver = shop.receiver(pool, async (tx, order) => {
      const { rows } = await tx.query<{ pid: number }>('SELECT pg_backend_pid() AS pid');
      const count = await credit(tx, order);
      await shop.admin.query('SELECT pg_terminate_backend($1)', [rows[0]!.pid]);
      const gone = 'SELECT 1 FROM pg_stat_activity WHERE pid = $1';
      await until(async () => (await shop.admin.query(gone, [rows[0]!.pid])).rowCount === 0);
      await pause(20);
      return count;
    });
    expect(await deliver(reference)).toBe(503);
    expect(await shop.creditsOf(reference)).toBe(0);
    expect(await shop.receiver(pool)(reference)).toBe(200);
    await shop.expectAtRest(pool);
  });

  it('leads to 503 while the server is away, and to one credit once it is back', async () => {
    const market = await Shop.on(await startPostgres({ fsync: 'off' }));
    market.admin.on('error', () => undefined);
    const deliver = market.receiver(market.pool());
    const reference = await market.order();
    await market.server.kill();
    expect(await deliver(reference)).toBe(503);
    await market.server.start();
    await vi.waitFor(async () => expect(await deliver(reference)).toBe(200), { timeout: 10_000 });
    expect(await market.creditsOf(reference)).toBe(1);
    await market.close();
  }, 30_000);

  it('ends the transaction of a frozen process, so that another can take the order', async () => {
    const pool = shop.pool();
    const reference = await shop.order();
    const frozen = latch();
    const atIt = latch();
    const freezing = async (tx: Tx, order: string): Promise<number> => {
      const count = await credit(tx, order);
      atIt.open();
      await frozen.opened;
      return count;
    };
    const first = shop.receiver(pool, freezing, { idleTimeout: 1_000 })(reference);
    await atIt.opened;
    const other = shop.receiver(shop.pool());
    const patience = { timeout: 5_000, interval: 20 };
    await vi.waitFor(async () => expect(await other(reference)).toBe(200), patience);
    frozen.open();
    expect(await first).toBe(503);
    expect(await shop.creditsOf(reference)).toBe(1);
    await shop.expectAtRest(pool);
  });

  it('has committed if its wait for a synchronous standby was cancelled', async () => {
    const server = await startPostgres({ fsync: 'off' });
    const market = await Shop.on(server);
    const reference = await market.order();
    await market.admin.query('SET synchronous_commit = local');
    await market.admin.query("ALTER SYSTEM SET synchronous_standby_names = 'nowhere'");
    await market.admin.query('SELECT pg_reload_conf()');
    const pool = market.pool();
    const notices: unknown[] = [];
    pool.on('connect', (client) => client.on('notice', ({ message }) => notices.push(message)));
    const store = postgresStore(pool, { logger });
    const waiting = "SELECT pid FROM pg_stat_activity WHERE wait_event = 'SyncRep'";
    // The server makes commits wait a moment after the setting shows.
    let paid = reference;
    let running = run(store, paid);
    let pid: number | undefined;
    while (pid === undefined) {
      const ended = await Promise.race([running, pause(200)]);
      const { rows } = await market.admin.query<{ pid: number }>(waiting);
      pid = rows[0]?.pid;
      if (pid === undefined && ended !== undefined) {
        await market.admin.query('INSERT INTO orders VALUES ($1)', [(paid = `${paid}+`)]);
        running = run(store, paid);
      }
    }
    // Others do not see it before.
    expect(await run(postgresStore(market.pool(), { logger }), paid)).toBe('in_progress');
    await market.admin.query('SELECT pg_cancel_backend($1)', [pid]);
    expect(await running).toBe('done');
    expect(notices).toContain('canceling wait for synchronous replication due to user request');
    expect(await market.creditsOf(paid)).toBe(1);
    expect(await store.isDone(keyOf(paid))).toBe(true);
    await market.close();
  }, 30_000);
});

describe('transactions that lock each other out', () => {
  it('run again until both are credited, if each has read a row that the other writes (40001)', async () => {
    const pool = shop.pool();
    const [first, second] = [await shop.order(), await shop.order()];
    let calls = 0;
    const bothHaveRead = latch();
    const reading = async (tx: Tx, reference: string): Promise<number> => {
      await tx.query('SELECT sum(credited) FROM orders');
      calls += 1;
      if (calls === 2) bothHaveRead.open();
      await bothHaveRead.opened;
      return credit(tx, reference);
    };
    const deliver = shop.receiver(pool, reading, { isolation: 'serializable' });
    expect(await Promise.all([deliver(first), deliver(second)])).toEqual([200, 200]);
    expect(calls).toBeGreaterThan(2);
    expect([await shop.creditsOf(first), await shop.creditsOf(second)]).toEqual([1, 1]);
  });

  it('repeat the victim of a deadlock (40P01), even if its credit wrapped the error', async () => {
    const pool = shop.pool();
    const [first, second] = [await shop.order(), await shop.order()];
    let calls = 0;
    let held = 0;
    const bothHoldOne = latch();
    const oneIsDone = latch();
    const deliver = shop.receiver(pool, async (tx, reference) => {
      calls += 1;
      // The victim could else take its row again before the other has it, and both would lock.
      if (calls > 2) await oneIsDone.opened;
      const count = await credit(tx, reference);
      held += 1;
      if (held === 2) bothHoldOne.open();
      await bothHoldOne.opened;
      const other = reference === first ? second : first;
      const lock = 'SELECT FROM orders WHERE reference = $1 FOR UPDATE';
      await tx.query(lock, [other]).catch((error: unknown) => {
        const layer = new Error('a layer between', { cause: error });
        throw new Error('the stock could not be counted', { cause: layer });
      });
      return count;
    });
    const both = [first, second].map((reference) => deliver(reference).finally(oneIsDone.open));
    expect(await Promise.all(both)).toEqual([200, 200]);
    expect(calls).toBe(3);
    expect([await shop.creditsOf(first), await shop.creditsOf(second)]).toEqual([1, 1]);
  });

  it.each([
    ['pg', { code: '40001' }, 3],
    ['a cause', { cause: { code: '40P01' } }, 3],
    ['TypeORM', { driverError: { code: '40001' } }, 3],
    ['Sequelize', { original: { code: '40001' } }, 3],
    ['Prisma', { code: 'P2034' }, 3],
    [
      'an adapter of Prisma',
      { code: 'P2010', meta: { driverAdapterError: { cause: { originalCode: '40001' } } } },
      3,
    ],
    ['another failure', { code: '23505' }, 1],
  ])('recognise the error of %s, and rethrow the last', async (_, properties, attempts) => {
    const store = postgresStore(shop.pool(), { logger });
    const thrown: Error[] = [];
    const work = (): never => {
      thrown.push(Object.assign(new Error('fails'), properties));
      throw thrown.at(-1)!;
    };
    const running = run(store, 'an order', { work });
    const error: unknown = await running.catch((reason: unknown) => reason);
    expect(thrown).toHaveLength(attempts);
    expect(error).toBe(thrown.at(-1));
  });
});

it('a store finds its table with any search_path that other code left on the connection', async () => {
  const pool = shop.pool({ max: 1 });
  await pool.query('CREATE SCHEMA other_tenant');
  await postgresStore(pool, { schema: 'other_tenant' }).migrate();
  const store = postgresStore(pool, { logger });
  const work = vi.fn((tx: Tx) => tx.query('SET search_path = other_tenant, public'));
  const reference = await shop.order();
  expect(await run(store, reference, { work })).toBe('done');
  expect(await store.isDone(keyOf(reference))).toBe(true);
  const found = 'SELECT FROM public.paylink_marks WHERE key = sha256($1)';
  const key = Buffer.from(`payment.succeeded:${reference}`);
  expect((await shop.admin.query(found, [key])).rowCount).toBe(1);
});

describe('a pool', () => {
  it('keeps a connection for credits that write through it if 30 orders come at once', async () => {
    const pool = shop.pool({ max: 10 });
    const warn = vi.fn();
    const throughPool = (_: Tx, reference: string) => credit(pool, reference);
    const deliver = shop.receiver(pool, throughPool, { logger: { ...logger, warn } });
    const orders = await Promise.all(Array.from({ length: 30 }, () => shop.order()));
    expect(new Set(await Promise.all(orders.map(deliver)))).toEqual(new Set([200]));
    expect(await Promise.all(orders.map((order) => shop.creditsOf(order)))).toEqual(
      orders.map(() => 1),
    );
    expect(warn).toHaveBeenCalledOnce();
    expect(warn.mock.calls[0]![0]).toContain('Write through `tx`, never through the pool');
    await shop.expectAtRest(pool);
  });

  it('is reported as exhausted in the log if a credit waits for its only connection', async () => {
    const pool = shop.pool({ max: 1 });
    const error = vi.fn();
    const throughPool = (_: Tx, reference: string) => credit(pool, reference);
    const deliver = shop.receiver(pool, throughPool, {
      timeout: 300,
      logger: { ...logger, error },
    });
    expect(await deliver(await shop.order())).toBe(503);
    expect(error.mock.calls[0]![0]).toContain(
      'the pool is exhausted: all 1 connections are in use, 1 of them by transactions of the ' +
        'store, and 1 requests wait for one. Write through `tx`',
    );
    await shop.expectAtRest(pool);
  });

  it('is named as exhausted in the error if the pool’s own time limit ends the wait', async () => {
    const pool = shop.pool({ max: 1, connectionTimeoutMillis: 50 });
    const store = postgresStore(pool, { schema: 'public', logger });
    const held = await pool.connect();
    const exhausted = 'the pool is exhausted: all 1 connections are in use';
    await expect(store.isDone(keyOf('an order'))).rejects.toThrow(exhausted);
    await expect(run(store, 'an order')).rejects.toThrow(exhausted);
    held.release();
    await shop.expectAtRest(pool);
  });

  it('passes the place of an aborted run to the next', async () => {
    const pool = shop.pool({ max: 2 });
    const store = postgresStore(pool, { logger });
    const over = latch();
    const holding = latch();
    const first = run(store, await shop.order(), {
      work: () => {
        holding.open();
        return over.opened;
      },
    });
    await holding.opened;
    const controller = new AbortController();
    const second = run(store, await shop.order(), { signal: controller.signal });
    const third = run(store, await shop.order());
    await until(() => pool.totalCount - pool.idleCount === 1);
    controller.abort(new Error('over'));
    await expect(second).rejects.toThrow('over');
    over.open();
    expect(await Promise.all([first, third])).toEqual(['done', 'done']);
    await shop.expectAtRest(pool);
  });

  it('works without public counters', async () => {
    const pool = shop.pool();
    const plain = {
      connect: () => pool.connect(),
      query: (query: { text: string }) => pool.query<object>(query),
    };
    const store = postgresStore(plain, { logger });
    const reference = await shop.order();
    expect([await run(store, reference), await run(store, reference)]).toEqual([
      'done',
      'duplicate',
    ]);
    await shop.expectAtRest(pool);
  });
});
