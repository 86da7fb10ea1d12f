import { createHash } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { WebhookError } from '@paylink/core';
import { postgresStore } from '@paylink/postgres';
import type { PoolClient } from 'pg';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import type { Fault } from '../../../test/durability/wire-proxy.js';
import { startPostgres } from '../../../test/engines/postgres.js';
import { credit, latch, neverAborted, Shop } from './shop.js';

let shop: Shop;
beforeAll(async () => {
  shop = await Shop.open({ deadlock_timeout: '50ms', max_connections: 40 });
}, 120_000);
afterEach(() => shop.rest());
afterAll(() => shop.close());

const until = (condition: () => unknown): Promise<void> =>
  vi.waitFor(async () => expect(await condition()).toBe(true), { timeout: 10_000, interval: 5 });

describe('a delivery', () => {
  it('is credited once, however often it comes (H01, H03)', async () => {
    const pool = shop.pool();
    const deliver = shop.receiver(pool);
    const reference = await shop.order();
    for (let time = 0; time < 4; time += 1) expect(await deliver(reference)).toBe(200);
    expect(await shop.creditsOf(reference)).toBe(1);
    await shop.expectAtRest(pool);
  });

  it('is credited once when 100 come at once, and all are answered (H02)', async () => {
    const pool = shop.pool();
    const handler = vi.fn(credit);
    const deliver = shop.receiver(pool, handler);
    const reference = await shop.order();
    const statuses = await Promise.all(Array.from({ length: 100 }, () => deliver(reference)));
    expect(new Set(statuses)).toEqual(new Set([200]));
    expect(handler).toHaveBeenCalledTimes(1);
    expect(await shop.creditsOf(reference)).toBe(1);
    await shop.expectAtRest(pool);
  });

  it('is credited once when 100 come at once to two stores that know nothing of each other (H02, I09)', async () => {
    const pools = [shop.pool(), shop.pool()];
    const slowly = async (tx: PoolClient, reference: string): Promise<void> => {
      await credit(tx, reference);
      await tx.query('SELECT pg_sleep(0.05)');
    };
    const [first, second] = pools.map((pool) => shop.receiver(pool, slowly));
    const reference = await shop.order();
    const statuses = await Promise.all(Array.from({ length: 100 }, (_, index) => (index % 2 === 0 ? first! : second!)(reference)));
    expect(statuses.filter((status) => status !== 200 && status !== 503)).toEqual([]);
    expect(statuses).toContain(200);
    expect(await shop.creditsOf(reference)).toBe(1);
    for (const deliver of [first!, second!]) expect(await deliver(reference)).toBe(200);
    expect(await shop.creditsOf(reference)).toBe(1);
    for (const pool of pools) await shop.expectAtRest(pool);
  });

  it('is refused at once with 503 while another process is at it (I09)', async () => {
    const { opened, open } = latch();
    const atIt = latch();
    const slow = shop.receiver(shop.pool(), async (tx, reference) => {
      await credit(tx, reference);
      atIt.open();
      await opened;
    });
    const reference = await shop.order();
    const first = slow(reference);
    await atIt.opened;
    const handler = vi.fn(credit);
    expect(await shop.receiver(shop.pool(), handler)(reference)).toBe(503);
    open();
    expect(await first).toBe(200);
    expect(handler).not.toHaveBeenCalled();
    expect(await shop.creditsOf(reference)).toBe(1);
  });

  it('leaves the pool to other orders while replays of a slow one wait', async () => {
    const pool = shop.pool({ max: 2 });
    const { opened, open } = latch();
    const slowOne = await shop.order();
    const atIt = latch();
    const deliver = shop.receiver(pool, async (tx, reference) => {
      await credit(tx, reference);
      if (reference !== slowOne) return;
      atIt.open();
      await opened;
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

  it('is refused when the pool is exhausted until its time is over, and no connection is lost by that (I06)', async () => {
    const pool = shop.pool({ max: 1 });
    const held = await pool.connect();
    const handler = vi.fn(credit);
    const deliver = shop.receiver(pool, handler, { handlerTimeout: 100 });
    const reference = await shop.order();
    const store = postgresStore(pool);
    const controller = new AbortController();
    const waiting = store.run('straight', () => Promise.resolve(), { signal: controller.signal });
    expect(await deliver(reference)).toBe(503);
    controller.abort(new Error('over'));
    await expect(waiting).rejects.toThrow('over');
    held.release();
    await shop.expectAtRest(pool);
    expect(handler).not.toHaveBeenCalled();
    expect(await deliver(reference)).toBe(200);
    expect(await store.isDone('straight')).toBe(false);
  });

  it('marks the SHA-256 of kind and reference, so that a mark can be found by hand', async () => {
    const reference = await shop.order();
    await shop.receiver(shop.pool())(reference);
    const found = 'SELECT done_at FROM paylink_marks WHERE key = sha256($1)';
    expect((await shop.admin.query(found, [Buffer.from(`payment.succeeded:${reference}`)])).rows).toHaveLength(1);
  });
});

describe('two kinds of event of one reference (N06)', () => {
  it('take turns without a connection, and never take the result of each other', async () => {
    const pool = shop.pool({ max: 1 });
    const store = postgresStore(pool);
    const reference = await shop.order();
    const paying = latch();
    const paid = latch();
    const order: string[] = [];
    const run = (kind: string, work: (tx: PoolClient) => Promise<unknown>, signal = neverAborted): Promise<string> =>
      store.run(
        `${kind}:${reference}`,
        async ({ tx }) => {
          order.push(kind);
          await work(tx);
        },
        { signal, turn: reference },
      );
    const payment = run('payment', async (tx) => {
      await credit(tx, reference);
      paying.open();
      await paid.opened;
    });
    await paying.opened;
    const refund = run('refund', (tx) => tx.query('UPDATE orders SET credited = credited - 1 WHERE reference = $1', [reference]));
    const duplicate = run('payment', () => Promise.reject(new Error('paid twice')));
    const aborted = new AbortController();
    const gone = run('dispute', () => Promise.reject(new Error('ran after the abort')), aborted.signal);
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

  it('let the next try when the one at work fails, of its own kind and of the other', async () => {
    const store = postgresStore(shop.pool());
    const reference = await shop.order();
    const failing = latch();
    const options = { signal: neverAborted, turn: reference };
    const first = store.run(
      'payment',
      async () => {
        await failing.opened;
        throw new Error('no stock');
      },
      options,
    );
    const others = ['payment', 'refund', 'payment'].map((key) => store.run(key, ({ tx }) => credit(tx, reference), options));
    failing.open();
    await expect(first).rejects.toThrow('no stock');
    expect(await Promise.all(others)).toEqual(['done', 'done', 'duplicate']);
    expect(await shop.creditsOf(reference)).toBe(2);
  });

  it('are refused at once while another process is at either of them', async () => {
    const atWork = latch();
    const over = latch();
    const reference = await shop.order();
    const options = { signal: neverAborted, turn: reference };
    const first = postgresStore(shop.pool()).run(
      `payment of ${reference}`,
      async ({ tx }) => {
        await credit(tx, reference);
        atWork.open();
        await over.opened;
      },
      options,
    );
    await atWork.opened;
    const other = postgresStore(shop.pool());
    const work = vi.fn(({ tx }: { readonly tx: PoolClient }) => credit(tx, reference));
    expect(await other.run(`refund of ${reference}`, work, options)).toBe('in_progress');
    expect(await other.run(`payment of ${reference}`, work, options)).toBe('in_progress');
    // By key alone, as a process of the release before asks.
    expect(await other.run(`payment of ${reference}`, work, { signal: neverAborted })).toBe('in_progress');
    expect(work).not.toHaveBeenCalled();
    over.open();
    expect(await first).toBe('done');
    expect(await other.run(`refund of ${reference}`, work, options)).toBe('done');
  });
});

describe('a handler that fails', () => {
  it('leaves neither credit nor mark when it throws, and its own error is thrown on (G01)', async () => {
    const pool = shop.pool();
    const store = postgresStore(pool);
    const reference = await shop.order();
    const error = new WebhookError('unknown_order', { status: 503 });
    const failing = store.run(
      reference,
      async ({ tx }) => {
        await credit(tx, reference);
        throw error;
      },
      { signal: neverAborted },
    );
    expect(await failing.catch((thrown: unknown) => thrown)).toBe(error);
    expect(await shop.creditsOf(reference)).toBe(0);
    expect(await store.isDone(reference)).toBe(false);
    await shop.expectAtRest(pool);
  });

  it('is never done when it has swallowed an SQL error, since the server answers COMMIT with ROLLBACK (I02)', async () => {
    const pool = shop.pool();
    const reference = await shop.order();
    const deliver = shop.receiver(pool, async (tx) => {
      await credit(tx, reference);
      await tx.query('SELECT 1 / 0').catch(() => undefined);
    });
    for (let time = 0; time < 2; time += 1) expect(await deliver(reference)).toBe(503);
    expect(await shop.creditsOf(reference)).toBe(0);
    expect(await shop.receiver(pool)(reference)).toBe(200);
    await shop.expectAtRest(pool);
  });

  it('is never done when a statement that it did not await fails (I02)', async () => {
    const reference = await shop.order();
    const deliver = shop.receiver(shop.pool(), async (tx) => {
      await credit(tx, reference);
      void tx.query('SELECT 1 / 0').catch(() => undefined);
    });
    expect(await deliver(reference)).toBe(503);
    expect(await shop.creditsOf(reference)).toBe(0);
  });

  it('is never done when the server answers COMMIT with anything else (I02)', async () => {
    // As where something between here and the server ends the transaction in its own way.
    const pool = shop.pool();
    pool.on('connect', (client) => {
      const query = client.query.bind(client) as (...values: unknown[]) => unknown;
      Object.assign(client, { query: (sql: unknown, ...rest: unknown[]) => query(sql === 'COMMIT' ? 'ROLLBACK' : sql, ...rest) });
    });
    const reference = await shop.order();
    const run = postgresStore(pool).run(reference, ({ tx }) => credit(tx, reference), { signal: neverAborted });
    await expect(run).rejects.toThrow('the server answered COMMIT with ROLLBACK: nothing was committed');
    expect(await shop.creditsOf(reference)).toBe(0);
    await shop.expectAtRest(pool);
  });

  it('is done with a savepoint around the statement that fails', async () => {
    const reference = await shop.order();
    const deliver = shop.receiver(shop.pool(), async (tx) => {
      await credit(tx, reference);
      await tx.query('SAVEPOINT mail');
      await tx.query('SELECT 1 / 0').catch(() => tx.query('ROLLBACK TO SAVEPOINT mail'));
    });
    expect(await deliver(reference)).toBe(200);
    expect(await shop.creditsOf(reference)).toBe(1);
  });

  it('is never done when a deferred constraint fails at COMMIT (I02)', async () => {
    await shop.admin.query('CREATE TABLE IF NOT EXISTS mails (id int UNIQUE DEFERRABLE INITIALLY DEFERRED)');
    const reference = await shop.order();
    const deliver = shop.receiver(shop.pool(), async (tx) => {
      await credit(tx, reference);
      await tx.query('INSERT INTO mails VALUES (1), (1)');
    });
    expect(await deliver(reference)).toBe(503);
    expect(await shop.creditsOf(reference)).toBe(0);
  });

  it.each([
    ...['BEGIN', 'start transaction', 'COMMIT', ' end', 'rollback;', 'ROLLBACK AND CHAIN', 'abort', "PREPARE TRANSACTION 'x'"],
    ...['SELECT 1; COMMIT; BEGIN', '/* x */ COMMIT', '/* /* x */ */ COMMIT', '-- x\nROLLBACK', "SELECT ';'; ROLLBACK; BEGIN"],
    ...['SELECT $a$;$a$; END', "SELECT E'\\';'; commit", 'SELECT 1 AS ";"; COMMIT; BEGIN'],
  ])('is refused with what to write when it says %s (N12)', async (statement) => {
    const { pool, proxy } = await shop.faultyPool();
    const store = postgresStore(pool);
    const reference = await shop.order();
    for (const query of [statement, { text: statement }]) {
      const run = store.run(
        reference,
        async ({ tx }) => {
          await credit(tx, reference);
          await tx.query(query);
        },
        { signal: neverAborted },
      );
      await expect(run).rejects.toThrow('SAVEPOINT');
    }
    expect(proxy.statements).not.toContain(statement);
    expect(await shop.creditsOf(reference)).toBe(0);
    expect(await store.isDone(reference)).toBe(false);
  });

  it.each([
    "SELECT 'a; COMMIT; b' AS commit",
    '/* COMMIT; */ SELECT 1; -- ROLLBACK',
    'SELECT $x$; COMMIT; $x$, $$; END $$',
    'SELECT CASE WHEN true THEN 1 END; SELECT 2',
    'SAVEPOINT a; ROLLBACK WORK TO SAVEPOINT a; RELEASE a',
  ])('may say %s (N12)', async (statement) => {
    const reference = await shop.order();
    const deliver = shop.receiver(shop.pool(), async (tx) => {
      await credit(tx, reference);
      await tx.query(statement);
    });
    expect(await deliver(reference)).toBe(200);
    expect(await shop.creditsOf(reference)).toBe(1);
  });

  it('is not done when it ends the transaction unseen, and is credited at most once', async () => {
    const pool = shop.pool();
    // Read once by the store and once by the driver.
    const unseen = (sql: string): { readonly text: string } => {
      const texts = ['SELECT 1', 'SELECT 1'];
      return {
        get text() {
          return texts.pop() ?? sql;
        },
      };
    };
    const rolledBack = await shop.order();
    const rollsBack = shop.receiver(pool, (tx, reference) => credit(tx, reference).then(() => tx.query(unseen('ROLLBACK'))));
    expect(await rollsBack(rolledBack)).toBe(503);
    const inAnother = shop.receiver(pool, async (tx, reference) => {
      await tx.query(unseen('ROLLBACK; BEGIN'));
      await credit(tx, reference);
    });
    expect(await inAnother(rolledBack)).toBe(503);
    expect(await shop.creditsOf(rolledBack)).toBe(0);

    const committed = await shop.order();
    const commits = shop.receiver(pool, (tx, reference) => credit(tx, reference).then(() => tx.query(unseen('COMMIT'))));
    expect(await commits(committed)).toBe(503);
    // The mark was committed with the credit, so that a retry does no harm.
    expect(await commits(committed)).toBe(200);
    expect(await shop.creditsOf(committed)).toBe(1);
    await shop.expectAtRest(pool);
  });

  it('cannot end or lend out the connection', async () => {
    const pool = shop.pool();
    const reference = await shop.order();
    const deliver = shop.receiver(pool, async (tx, order) => {
      tx.release();
      expect(() => tx.end()).toThrow('tx.end()');
      expect(() => tx.connect()).toThrow('tx.connect()');
      await credit(tx, order);
    });
    expect(await deliver(reference)).toBe(200);
    await shop.expectAtRest(pool);
  });
});

describe('a handler whose time is over', () => {
  it('takes no effect when it never settles; its connection is destroyed and none is missing (G03, I06)', async () => {
    const pool = shop.pool({ max: 1 });
    const removed = vi.fn();
    pool.on('remove', removed);
    const reference = await shop.order();
    const deliver = shop.receiver(pool, (tx, order) => credit(tx, order).then(() => new Promise(() => undefined)), {
      handlerTimeout: 200,
    });
    expect(await deliver(reference)).toBe(503);
    // Before the ten seconds that a COMMIT under way would be given.
    await vi.waitFor(() => expect(removed).toHaveBeenCalledOnce(), 8_000);
    await shop.expectAtRest(pool);
    expect(await shop.creditsOf(reference)).toBe(0);
    expect(await shop.receiver(pool)(reference)).toBe(200);
    expect(await shop.creditsOf(reference)).toBe(1);
  });

  it('cannot write late, neither its own order nor into the transaction that has the pool next (G03)', async () => {
    const pool = shop.pool({ max: 1 });
    const [late, next] = [await shop.order(), await shop.order()];
    const otherAtIt = latch();
    const lateHasTried = latch();
    let refused: unknown;
    const controller = new AbortController();
    const lateRun = postgresStore(pool).run(
      late,
      async ({ tx }) => {
        await credit(tx, late);
        controller.abort(new Error('over'));
        await otherAtIt.opened;
        refused = await credit(tx, late).catch((error: unknown) => error);
        lateHasTried.open();
      },
      { signal: controller.signal },
    );
    await expect(lateRun).rejects.toThrow('over');
    const deliver = shop.receiver(pool, async (tx, reference) => {
      await credit(tx, reference);
      otherAtIt.open();
      await lateHasTried.opened;
    });
    expect(await deliver(next)).toBe(200);
    expect(refused).toMatchObject({ message: expect.stringContaining('the transaction is over') as string });
    expect([await shop.creditsOf(late), await shop.creditsOf(next)]).toEqual([0, 1]);
    await shop.expectAtRest(pool);
  });

  it('ends the statement that is under way, on the server too, so that the order is free for the next delivery (G03)', async () => {
    const pool = shop.pool();
    const reference = await shop.order();
    const controller = new AbortController();
    const failed = latch();
    const run = postgresStore(pool).run(
      reference,
      async ({ tx }) => {
        await credit(tx, reference);
        await tx.query('SELECT pg_sleep(60)').catch(() => failed.open());
      },
      { signal: controller.signal },
    );
    const sleeping =
      "SELECT FROM pg_stat_activity WHERE datname = current_database() AND query = 'SELECT pg_sleep(60)' AND state = 'active'";
    await until(async () => (await shop.admin.query(sleeping)).rowCount === 1);
    controller.abort(new Error('over'));
    await expect(run).rejects.toThrow('over');
    await failed.opened;
    const next = shop.receiver(shop.pool());
    await vi.waitFor(async () => expect(await next(reference)).toBe(200), { timeout: 5_000, interval: 20 });
    expect(await shop.creditsOf(reference)).toBe(1);
    await shop.expectAtRest(pool);
  });

  it('cannot use `tx` after it has ended in time either', async () => {
    const pool = shop.pool({ max: 1 });
    const reference = await shop.order();
    let kept: PoolClient | undefined;
    const deliver = shop.receiver(pool, (tx, order) => {
      kept = tx;
      return credit(tx, order);
    });
    expect(await deliver(reference)).toBe(200);
    expect(() => kept!.query('SELECT 1')).toThrow('the transaction is over');
  });

  it('waits for the answer to a COMMIT that was sent, and gives the connection back (I07)', async () => {
    const { pool, proxy } = await shop.faultyPool({ max: 1 });
    const store = postgresStore(pool);
    const reference = await shop.order();
    const controller = new AbortController();
    let slow = false;
    proxy.fault = (sql) => {
      if (!sql.endsWith('COMMIT')) return undefined;
      slow = true;
      return { kind: 'slow', milliseconds: 300 };
    };
    const running = store.run(reference, ({ tx }) => credit(tx, reference), { signal: controller.signal });
    await until(() => slow);
    controller.abort(new Error('too late'));
    expect(await running).toBe('done');
    expect(await shop.creditsOf(reference)).toBe(1);
    expect(pool.totalCount).toBe(1);
    await shop.expectAtRest(pool);
  });
});

describe('a server that fails', () => {
  const steps = ['the table', 'claim', 'credit', 'commit'];
  const kinds: Fault['kind'][] = ['cut-before', 'cut-after'];

  it.each(steps.flatMap((step, number) => kinds.map((kind) => ({ step, number, kind }))))(
    'credits once when the connection is $kind at the $step (I01, I02, I07)',
    async ({ number, kind, step }) => {
      const { pool, proxy } = await shop.faultyPool();
      const deliver = shop.receiver(pool);
      const reference = await shop.order();
      proxy.strike(number, { kind } as Fault);
      // The handler's own statement fails in the handler, and what it throws is its own.
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

  it('gives up a connection on which COMMIT is never answered, some time after the end of the time (I06)', async () => {
    const { pool, proxy } = await shop.faultyPool({ max: 1 });
    const store = postgresStore(pool);
    const reference = await shop.order();
    const controller = new AbortController();
    let sent = false;
    proxy.fault = (sql) => {
      if (!sql.endsWith('COMMIT')) return undefined;
      sent = true;
      return { kind: 'silent-before' };
    };
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    try {
      const running = store
        .run(reference, ({ tx }) => credit(tx, reference), { signal: controller.signal })
        .catch(() => 'rejected');
      while (!sent) await new Promise(setImmediate);
      controller.abort();
      vi.advanceTimersByTime(10_000);
      expect(await running).toBe('rejected');
    } finally {
      vi.useRealTimers();
    }
    proxy.cutAll();
    await shop.expectAtRest(pool);
    expect(await shop.creditsOf(reference)).toBe(0);
  });

  it('credits nothing when the backend is terminated while the handler is at something else, and the process lives (I02)', async () => {
    const pool = shop.pool();
    const reference = await shop.order();
    const deliver = shop.receiver(pool, async (tx, order) => {
      const { rows } = await tx.query<{ pid: number }>('SELECT pg_backend_pid() AS pid');
      await credit(tx, order);
      await shop.admin.query('SELECT pg_terminate_backend($1)', [rows[0]!.pid]);
      const gone = 'SELECT 1 FROM pg_stat_activity WHERE pid = $1';
      await until(async () => (await shop.admin.query(gone, [rows[0]!.pid])).rowCount === 0);
      await pause(20);
    });
    expect(await deliver(reference)).toBe(503);
    expect(await shop.creditsOf(reference)).toBe(0);
    expect(await shop.receiver(pool)(reference)).toBe(200);
    await shop.expectAtRest(pool);
  });

  it('refuses with 503 while the server is away, and credits once it is back (I01)', async () => {
    const market = await Shop.on(await startPostgres({ fsync: 'off' }));
    market.admin.on('error', () => undefined);
    const pool = market.pool();
    const deliver = market.receiver(pool);
    const reference = await market.order();
    await market.server.kill();
    expect(await deliver(reference)).toBe(503);
    await market.server.start();
    await vi.waitFor(async () => expect(await deliver(reference)).toBe(200), { timeout: 10_000 });
    expect(await market.creditsOf(reference)).toBe(1);
    await market.close();
  }, 30_000);

  it('ends the transaction of a process that is frozen in it, so that another can take the order (I03)', async () => {
    const pool = shop.pool();
    const reference = await shop.order();
    const frozen = latch();
    const atIt = latch();
    const deliver = shop.receiver(
      pool,
      async (tx, order) => {
        await credit(tx, order);
        atIt.open();
        await frozen.opened;
      },
      { idleTimeout: 1_000 },
    );
    const first = deliver(reference);
    await atIt.opened;
    const other = shop.receiver(shop.pool());
    await vi.waitFor(async () => expect(await other(reference)).toBe(200), { timeout: 5_000, interval: 20 });
    frozen.open();
    expect(await first).toBe(503);
    expect(await shop.creditsOf(reference)).toBe(1);
    await shop.expectAtRest(pool);
  });
});

describe('transactions that lock each other out', () => {
  it('runs both again until both are credited, where each has read what the other writes (40001) (I12)', async () => {
    const pool = shop.pool();
    const [first, second] = [await shop.order(), await shop.order()];
    let calls = 0;
    const bothHaveRead = latch();
    const deliver = shop.receiver(
      pool,
      async (tx, reference) => {
        await tx.query('SELECT sum(credited) FROM orders');
        calls += 1;
        if (calls === 2) bothHaveRead.open();
        await bothHaveRead.opened;
        await credit(tx, reference);
      },
      { isolation: 'serializable' },
    );
    expect(await Promise.all([deliver(first), deliver(second)])).toEqual([200, 200]);
    expect(calls).toBeGreaterThan(2);
    expect([await shop.creditsOf(first), await shop.creditsOf(second)]).toEqual([1, 1]);
  });

  it('runs the victim of a deadlock again (40P01), also when its handler has wrapped the error (I12)', async () => {
    const pool = shop.pool();
    const [first, second] = [await shop.order(), await shop.order()];
    let calls = 0;
    let held = 0;
    const bothHoldOne = latch();
    const oneIsDone = latch();
    const deliver = shop.receiver(pool, async (tx, reference) => {
      calls += 1;
      // The victim would else be able to take its row again before the other has it, and both would lock each other out once more.
      if (calls > 2) await oneIsDone.opened;
      await credit(tx, reference);
      held += 1;
      if (held === 2) bothHoldOne.open();
      await bothHoldOne.opened;
      const other = reference === first ? second : first;
      try {
        await tx.query('SELECT FROM orders WHERE reference = $1 FOR UPDATE', [other]);
      } catch (error) {
        throw new Error('the stock could not be counted', { cause: new Error('a layer between', { cause: error }) });
      }
    });
    const statuses = await Promise.all([first, second].map((reference) => deliver(reference).finally(oneIsDone.open)));
    expect(statuses).toEqual([200, 200]);
    expect(calls).toBe(3);
    expect([await shop.creditsOf(first), await shop.creditsOf(second)]).toEqual([1, 1]);
  });

  it('gives up after three times, and throws on what the handler threw last (I12)', async () => {
    const store = postgresStore(shop.pool());
    const thrown: Error[] = [];
    const run = store.run(
      'three times',
      () => {
        thrown.push(Object.assign(new Error('a conflict that does not end'), { code: '40001' }));
        throw thrown.at(-1)!;
      },
      { signal: neverAborted },
    );
    const error: unknown = await run.catch((reason: unknown) => reason);
    expect(thrown).toHaveLength(3);
    expect(error).toBe(thrown[2]);
  });

  it('does not run a handler again for any other error, nor after its time', async () => {
    const store = postgresStore(shop.pool());
    const work = vi.fn(() => Promise.reject(Object.assign(new Error('unique'), { code: '23505' })));
    await expect(store.run('once', work, { signal: neverAborted })).rejects.toThrow('unique');
    expect(work).toHaveBeenCalledTimes(1);

    const controller = new AbortController();
    const late = vi.fn(() => {
      controller.abort(new Error('over'));
      return Promise.reject(Object.assign(new Error('conflict'), { code: '40001' }));
    });
    await expect(store.run('once', late, { signal: controller.signal })).rejects.toThrow('over');
    expect(late).toHaveBeenCalledTimes(1);
  });
});

it('costs two messages beside those of the handler', async () => {
  const { pool, proxy } = await shop.faultyPool();
  const deliver = shop.receiver(pool);
  const reference = await shop.order();
  await deliver(await shop.order());
  // The first of the process: where the table is.
  expect(proxy.statements.shift()).toMatch(/^SELECT n\.nspname/);
  expect(proxy.statements).toHaveLength(3);
  proxy.statements.length = 0;
  await deliver(reference);
  expect(proxy.statements).toEqual([expect.stringMatching(/^BEGIN; EXECUTE/), expect.stringMatching(/^UPDATE orders/), 'COMMIT']);
  // Nothing of the delivery but a digest of its reference goes into the store's own SQL.
  expect(proxy.statements[0]).toContain(createHash('sha256').update(`payment.succeeded:${reference}`).digest('hex'));
});

it.each([
  ['has used a savepoint, whose end is answered like the end of a transaction', ['SAVEPOINT a', 'ROLLBACK TO a']],
  ['has prepared a statement, which may be a transaction that it prepared', ['PREPARE nothing AS SELECT 1', 'DEALLOCATE nothing']],
  ['has not awaited a statement', ['unawaited']],
  ['has not used its transaction', []],
])('asks the server whether it is still in its transaction where a handler %s', async (_, statements) => {
  const { pool, proxy } = await shop.faultyPool();
  const store = postgresStore(pool, { logger: { warn: () => undefined } });
  const work: Parameters<typeof store.run>[1] = async ({ tx }) => {
    for (const statement of statements) {
      if (statement === 'unawaited') void tx.query('SELECT 1');
      else await tx.query(statement);
    }
  };
  await store.run(await shop.order(), work, { signal: neverAborted });
  expect(proxy.statements.at(-1)).toMatch(/^SELECT 1 \/ \(pg_current_xact_id_if_assigned.*; COMMIT$/);
});

it.each([
  [undefined, 'read committed'],
  ['read committed', 'read committed'],
  ['repeatable read', 'repeatable read'],
  ['serializable', 'serializable'],
] as const)('runs handlers under the isolation that the option %s asks for', async (isolation, expected) => {
  const store = postgresStore(shop.pool(), { isolation });
  const shown: unknown[] = [];
  const work: Parameters<typeof store.run>[1] = async ({ tx }) => {
    shown.push(...(await tx.query<object>('SHOW transaction_isolation')).rows);
  };
  expect(await store.run(await shop.order(), work, { signal: neverAborted })).toBe('done');
  expect(shown).toEqual([{ transaction_isolation: expected }]);
});

it('knows its table whatever search_path a handler has left on the connection (H01)', async () => {
  const pool = shop.pool({ max: 1 });
  await pool.query('CREATE SCHEMA IF NOT EXISTS other_tenant');
  await postgresStore(pool, { schema: 'other_tenant' }).migrate();
  const store = postgresStore(pool);
  const key = createHash('sha256').update('an order of a tenant').digest('hex');
  const work = vi.fn(async ({ tx }: { readonly tx: PoolClient }) => {
    await tx.query('SET search_path = other_tenant, public');
  });
  const { signal } = new AbortController();
  expect(await store.run(key, work, { signal })).toBe('done');
  expect(await store.isDone(key)).toBe(true);
  expect(await store.run(key, work, { signal })).toBe('duplicate');
  expect(work).toHaveBeenCalledOnce();
});

it('does not hand the client out by a method that gives it back (G03)', async () => {
  const pool = shop.pool({ max: 1 });
  const store = postgresStore(pool);
  let chained: PoolClient | undefined;
  const key = createHash('sha256').update('an order with a listener').digest('hex');
  const work = async ({ tx }: { readonly tx: PoolClient }): Promise<void> => {
    chained = tx.on('notice', () => undefined);
  };
  expect(await store.run(key, work, { signal: new AbortController().signal })).toBe('done');
  expect(() => chained!.query('SELECT 1')).toThrow('the transaction is over');
});

it('leaves the connection to the next run when it is aborted while it waits for one (G03)', async () => {
  const pool = shop.pool({ max: 1 });
  const store = postgresStore(pool, { schema: 'public' });
  const reference = await shop.order();
  const run = (signal: AbortSignal) => store.run(reference, ({ tx }) => credit(tx, reference), { signal });
  const held = await pool.connect();
  const controller = new AbortController();
  const waiting = run(controller.signal);
  await vi.waitFor(() => expect(pool.waitingCount).toBe(1));
  controller.abort(new Error('its time is over'));
  await expect(waiting).rejects.toThrow('its time is over');
  held.release();
  expect(await run(AbortSignal.timeout(10_000))).toBe('done');
  await shop.expectAtRest(pool);
});
