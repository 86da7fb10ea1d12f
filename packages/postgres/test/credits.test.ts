/** A credit says what it changed: nothing reads it from SQL texts or from the server's answers. */
import { setTimeout as pause } from 'node:timers/promises';
import { postgresStore } from '@paylink/postgres';
import { Query } from 'pg';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { credit, keyOf, neverAborted, receiverOn, runOf, Shop, silent, type Tx } from './shop.js';

let shop: Shop;
beforeAll(async () => {
  shop = await Shop.open();
  await shop.admin.query(`
    CREATE FUNCTION credit_order(text) RETURNS int LANGUAGE sql AS
      $$ UPDATE orders SET credited = credited + 1 WHERE reference = $1 RETURNING 1 $$;
    CREATE VIEW unpaid AS SELECT * FROM orders WHERE credited = 0;
    CREATE FUNCTION pay() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
      UPDATE orders SET credited = 1 WHERE reference = OLD.reference; RETURN NEW; END $$;
    CREATE TRIGGER pay INSTEAD OF UPDATE ON unpaid FOR EACH ROW EXECUTE FUNCTION pay();
    CREATE TABLE payments (reference text);
    CREATE RULE pay AS ON INSERT TO payments DO INSTEAD
      UPDATE orders SET credited = credited + 1 WHERE reference = NEW.reference;
    GRANT SELECT, UPDATE ON orders TO pg_monitor;
  `);
}, 120_000);
afterEach(() => shop.rest());
afterAll(() => shop.close());

const SET = 'UPDATE orders SET credited = credited + 1 WHERE reference = $1';

describe('a credit that changed nothing', () => {
  it.each([
    [],
    ["SELECT set_config('app.tenant', 'a', true)"],
    ['SELECT now()'],
    ['SELECT * FROM orders LIMIT 1', 'SELECT 1 FOR UPDATE'],
    ['WITH found AS (SELECT 1) SELECT * FROM found'],
    ['CREATE TEMP TABLE seen (id int)', 'INSERT INTO seen VALUES (1)'],
  ])('refuses a credit that changed nothing although it ran %j %j before', async (...reads) => {
    const store = postgresStore(shop.pool(), { logger: silent });
    const deliver = receiverOn(store, async (tx, reference) => {
      for (const read of reads) await tx.query(read);
      return credit(tx, reference);
    });
    const reference = `order-that-comes-late-${Math.random()}`;
    expect(await deliver(reference)).toBe(503);
    expect(await store.isDone(keyOf(reference))).toBe(false);
    await shop.admin.query('INSERT INTO orders (reference) VALUES ($1)', [reference]);
    expect(await deliver(reference)).toBe(200);
    expect(await shop.creditsOf(reference)).toBe(1);
  });

  it.each([0, 0n, undefined, null, true, '1', Number.NaN, { rowCount: 1 }, new Error('no')])(
    'is rejected unless it reports a change: it returned %s',
    async (returned) => {
      const reference = await shop.order();
      const store = postgresStore(shop.pool(), { logger: silent });
      const deliver = receiverOn(store, async (tx, order) => {
        await credit(tx, order);
        return returned;
      });
      expect(await deliver(reference)).toBe(503);
      expect(await shop.creditsOf(reference)).toBe(0);
      expect(await store.isDone(keyOf(reference))).toBe(false);
    },
  );
});

type Write = (tx: Tx, reference: string) => Promise<unknown>;

describe('the store credits once', () => {
  it.each<[string, Write]>([
    [
      'a CTE with a comment',
      (tx, order) =>
        tx.query(`/* x */ WITH a AS (${SET} RETURNING 1) -- y\nSELECT * FROM a`, [order]),
    ],
    [
      'a nested WITH',
      (tx, order) =>
        tx.query(
          `WITH a AS (WITH b AS (SELECT $1 AS id) UPDATE orders SET credited = credited + 1 FROM b WHERE reference = b.id RETURNING 1) SELECT FROM a`,
          [order],
        ),
    ],
    [
      'EXECUTE of a prepared statement',
      async (tx, order) => {
        await tx.query(`PREPARE pay_${process.pid} (text) AS ${SET}`);
        await tx.query(`EXECUTE pay_${process.pid}('${order}')`);
      },
    ],
    [
      'a role with fewer rights',
      async (tx, order) => {
        await tx.query('SET LOCAL ROLE pg_monitor');
        await tx.query(SET, [order]);
      },
    ],
    ['"for update" in a comment', (tx, order) => tx.query(`${SET} -- for update`, [order])],
    ['a function', (tx, order) => tx.query('SELECT credit_order($1)', [order])],
    [
      'an INSTEAD OF trigger',
      (tx, order) => tx.query('UPDATE unpaid SET credited = 1 WHERE reference = $1', [order]),
    ],
    ['a rule', (tx, order) => tx.query('INSERT INTO payments VALUES ($1)', [order])],
    ['a DO block', (tx, order) => tx.query(`DO $$ BEGIN PERFORM credit_order('${order}'); END $$`)],
    ['a named query', (tx, order) => tx.query({ name: 'pay', text: SET, values: [order] })],
    [
      'a search_path of its own',
      async (tx, order) => {
        await tx.query(SET, [order]);
        await tx.query('SET LOCAL search_path = nowhere');
      },
    ],
    [
      'a savepoint around a failure',
      async (tx, order) => {
        await tx.query(SET, [order]);
        await tx.query('SAVEPOINT mail');
        await tx.query('SELECT 1 / 0').catch(() => tx.query('ROLLBACK TO SAVEPOINT mail'));
      },
    ],
  ])('through %s', async (_, write) => {
    const pool = shop.pool();
    const store = postgresStore(pool, { logger: silent });
    const reference = await shop.order();
    const deliver = receiverOn(store, async (tx, order) => {
      await write(tx, order);
      return 1;
    });
    expect([await deliver(reference), await deliver(reference)]).toEqual([200, 200]);
    expect(await shop.creditsOf(reference)).toBe(1);
    expect(await store.isDone(keyOf(reference))).toBe(true);
    await shop.expectAtRest(pool);
  });
});

describe('statements that a credit does not await', () => {
  it.each<[string, (tx: Tx, reference: string) => void]>([
    ['one', (tx, reference) => void credit(tx, reference)],
    [
      'a forEach',
      (tx, reference) => {
        [1, 2, 3].forEach(async () => {
          await tx.query('SELECT 1');
          await credit(tx, reference).catch(() => undefined);
        });
      },
    ],
    [
      'a chain that sends its first statement after the return',
      (tx, reference) => {
        void Promise.resolve()
          .then(() => Promise.resolve())
          .then(() => Promise.resolve())
          .then(() => Promise.resolve())
          .then(() => Promise.resolve())
          .then(() => credit(tx, reference));
      },
    ],
    ['one that fails', (tx) => void tx.query('SELECT 1 / 0').catch(() => undefined)],
  ])('are rejected together with the credit: %s', async (_, start) => {
    const pool = shop.pool();
    const store = postgresStore(pool, { logger: silent });
    const reference = await shop.order();
    const run = store.run(keyOf(reference), async (tx) => start(tx, reference), runOf(reference));
    await expect(run).rejects.toMatchObject({
      code: 'not_credited',
      status: 503,
      message: expect.stringContaining('Await every statement') as string,
    });
    await shop.expectAtRest(pool);
    expect(await shop.creditsOf(reference)).toBe(0);
    expect(await store.isDone(keyOf(reference))).toBe(false);
    expect(await shop.receiver(pool)(reference)).toBe(200);
  });

  it('are rejected, logged and never answered after the commit, and change nothing', async () => {
    const error = vi.fn();
    const reference = await shop.order();
    const went = vi.fn();
    const deliver = shop.receiver(
      shop.pool(),
      async (tx, order) => {
        void pause(50)
          .then(() => credit(tx, order))
          .then(went, went);
        return credit(tx, order);
      },
      { logger: { ...silent, error } },
    );
    expect(await deliver(reference)).toBe(200);
    await vi.waitFor(() => expect(error).toHaveBeenCalledOnce());
    expect(error.mock.calls[0]![0]).toContain('Await every statement');
    expect(await shop.creditsOf(reference)).toBe(1);
    expect(went).not.toHaveBeenCalled();
  });

  it('are rejected without a log line if the credit failed, because nothing was done', async () => {
    const error = vi.fn();
    const reference = await shop.order();
    let kept!: Tx;
    const deliver = shop.receiver(
      shop.pool(),
      (tx) => {
        kept = tx;
        throw new Error('no stock');
      },
      { logger: { ...silent, error } },
    );
    expect(await deliver(reference)).toBe(500);
    await expect(kept.query('SELECT 1')).rejects.toMatchObject({
      message: expect.stringContaining('the transaction is over') as string,
      cause: { message: 'no stock' },
    });
    expect(error).not.toHaveBeenCalled();
  });
});

describe('`tx`', () => {
  it('has only `query`, which also works if passed on alone', async () => {
    const reference = await shop.order();
    const deliver = shop.receiver(shop.pool(), (tx, order) => {
      expect(Object.keys(tx)).toEqual(['query']);
      const { query } = tx;
      return credit({ query }, order);
    });
    expect(await deliver(reference)).toBe(200);
    expect(await shop.creditsOf(reference)).toBe(1);
  });

  it('rejects statements whose end it cannot see', async () => {
    const reference = await shop.order();
    const deliver = shop.receiver(shop.pool(), (tx, order) => {
      const query = tx.query as (...values: unknown[]) => unknown;
      const sentence = 'Await its promise';
      expect(() => query('SELECT 1', () => undefined)).toThrow(sentence);
      expect(() => query('SELECT $1', [1], () => undefined)).toThrow(sentence);
      expect(() => query({ text: 'SELECT 1', callback: () => undefined })).toThrow(sentence);
      expect(() => query(new Query('SELECT 1'))).toThrow(sentence);
      return credit(tx, order);
    });
    expect(await deliver(reference)).toBe(200);
  });

  it('does not count a statement that the driver rejects at once as running', async () => {
    const reference = await shop.order();
    const deliver = shop.receiver(shop.pool(), (tx, order) => {
      expect(() => tx.query(undefined as never)).toThrow(TypeError);
      return credit(tx, order);
    });
    expect(await deliver(reference)).toBe(200);
    expect(await shop.creditsOf(reference)).toBe(1);
  });

  it('logs once per store that a credit succeeded without `tx`', async () => {
    const warn = vi.fn();
    const pool = shop.pool();
    const options = { logger: { ...silent, warn } };
    const through = shop.receiver(pool, (tx, order) => credit(tx, order), options);
    expect(await through(await shop.order())).toBe(200);
    expect(warn).not.toHaveBeenCalled();
    const deliver = shop.receiver(pool, (_, order) => credit(pool, order), options);
    for (let time = 0; time < 2; time += 1) expect(await deliver(await shop.order())).toBe(200);
    expect(warn).toHaveBeenCalledOnce();
    expect(warn.mock.calls[0]![0]).toContain('Write through `tx`');
  });

  it('passes the result of the `tx` option to the credit', async () => {
    const store = postgresStore(shop.pool(), {
      tx: (client) => ({ pay: (reference: string) => credit(client, reference) }),
    });
    const reference = await shop.order();
    const work = async (tx: { pay(order: string): Promise<number> }): Promise<void> =>
      void (await tx.pay(reference));
    expect(await store.run(keyOf(reference), work, runOf(reference, neverAborted))).toBe('done');
    expect(await shop.creditsOf(reference)).toBe(1);
  });
});
