import { PGlite, type Transaction } from '@electric-sql/pglite';
import { createDispatcher } from '@paylink/core';
import { postgresStore } from '@paylink/postgres';
import { Query, type PoolClient } from 'pg';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { neverAborted, Shop } from './shop.js';

let shop: Shop;
beforeAll(async () => {
  shop = await Shop.open();
  await shop.admin.query(TABLES);
}, 120_000);
afterEach(() => shop.rest());
afterAll(() => shop.close());

const TABLES = `
CREATE TABLE credits (reference text PRIMARY KEY);
CREATE TABLE log (reference text);
CREATE VIEW order_view AS SELECT * FROM orders;
CREATE VIEW ruled_view AS SELECT * FROM orders;
CREATE RULE to_log AS ON UPDATE TO ruled_view DO INSTEAD INSERT INTO log VALUES ('by a rule');
CREATE FUNCTION pay(what text) RETURNS void LANGUAGE sql AS 'UPDATE orders SET credited = credited + 1 WHERE reference = what; INSERT INTO log VALUES (what)';
CREATE FUNCTION log_rows(what text) RETURNS SETOF text LANGUAGE plpgsql AS $$ BEGIN INSERT INTO log VALUES (what); END $$;
CREATE PROCEDURE log_it(what text) LANGUAGE sql AS 'INSERT INTO log VALUES (what)';
CREATE FUNCTION divert() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN INSERT INTO log VALUES (OLD.reference); RETURN NULL; END $$;
CREATE TABLE diverted (reference text PRIMARY KEY);
INSERT INTO diverted VALUES ('an order');
CREATE TRIGGER divert BEFORE UPDATE ON diverted FOR EACH ROW EXECUTE FUNCTION divert();
CREATE VIEW diverted_view AS SELECT * FROM diverted;
CREATE TRIGGER divert INSTEAD OF UPDATE ON diverted_view FOR EACH ROW EXECUTE FUNCTION divert();
`;

const UPDATE = 'UPDATE orders SET credited = credited + 1 WHERE reference = $1 AND credited = 0';
/** The same without a parameter, for the simple protocol. */
const updateOf = (reference: string): string => UPDATE.replace('$1', `'${reference}'`);

type Work = (tx: PoolClient, reference: string) => unknown;

let references = 0;
const newReference = (): string => `unknown-${process.pid}-${(references += 1)}`;
const addOrder = (reference: string): Promise<unknown> =>
  shop.admin.query('INSERT INTO orders (reference) VALUES ($1)', [reference]);

async function run(store: ReturnType<typeof postgresStore>, reference: string, work: Work): Promise<unknown> {
  return store
    .run(
      reference,
      async ({ tx }) => {
        await work(tx as PoolClient, reference);
      },
      { signal: neverAborted },
    )
    .catch((error: unknown) => error);
}

const refusal = expect.objectContaining({
  code: 'nothing_written',
  status: 503,
  message: expect.stringContaining('SELECT … FOR UPDATE') as string,
}) as unknown;

describe('a handler whose order is not there yet (N01)', () => {
  it.each<[string, Work]>([
    ['a text with values', (tx, reference) => tx.query(UPDATE, [reference])],
    ['a config object', (tx, reference) => tx.query({ text: UPDATE, values: [reference] })],
    ['a prepared statement', (tx, reference) => tx.query({ name: 'pay', text: UPDATE, values: [reference] })],
    [
      'a callback',
      (tx, reference) =>
        new Promise((resolve, reject) => tx.query(UPDATE, [reference], (error) => (error ? reject(error) : resolve(0)))),
    ],
    [
      'a submittable',
      (tx, reference) =>
        new Promise((resolve, reject) =>
          tx
            .query(new Query(updateOf(reference)))
            .on('end', resolve)
            .on('error', reject),
        ),
    ],
    ['several statements', (tx, reference) => tx.query(`SET LOCAL lock_timeout = 1000; ${updateOf(reference)}; SAVEPOINT one`)],
    ['EXECUTE', (tx, reference) => tx.query(`PREPARE paying AS ${updateOf(reference)}; EXECUTE paying; DEALLOCATE paying`)],
    ['a statement that is not awaited', (tx, reference) => void tx.query(UPDATE, [reference])],
    [
      'DELETE',
      async (tx, reference) => {
        await tx.query('DELETE FROM credits WHERE reference = $1', [reference]);
        await tx.query(UPDATE, [reference]);
      },
    ],
    [
      'MERGE',
      (tx, reference) =>
        tx.query(
          `MERGE INTO orders USING (SELECT '${reference}' AS paid) ON reference = paid WHEN MATCHED THEN UPDATE SET credited = 1`,
        ),
    ],
    [
      'WITH a locking read',
      (tx, reference) =>
        tx.query(
          'WITH found AS (SELECT reference FROM orders WHERE reference = $1 FOR UPDATE) UPDATE orders SET credited = 1 FROM found WHERE orders.reference = found.reference',
          [reference],
        ),
    ],
    ['a view', (tx, reference) => tx.query(UPDATE.replace('orders', 'order_view'), [reference])],
    [
      'a locking read before it',
      async (tx, reference) => {
        await tx.query('SELECT FROM orders WHERE reference = $1 FOR NO KEY UPDATE', [reference]);
        await tx.query(UPDATE, [reference]);
      },
    ],
    [
      'INSERT … SELECT before it',
      async (tx, reference) => {
        await tx.query('INSERT INTO credits SELECT reference FROM orders WHERE reference = $1', [reference]);
        await tx.query(UPDATE, [reference]);
      },
    ],
  ])('is refused and leaves no mark, by %s; credited on the retry', async (_, work) => {
    const pool = shop.pool();
    const store = postgresStore(pool);
    const reference = newReference();
    expect(await run(store, reference, work)).toEqual(refusal);
    expect(await store.isDone(reference)).toBe(false);
    await addOrder(reference);
    expect(await run(store, reference, work)).toBe('done');
    expect(await shop.creditsOf(reference)).toBe(1);
    await shop.expectAtRest(pool);
  });

  it('is acknowledged with a warning where nothingWritten is warn', async () => {
    const warn = vi.fn();
    const store = postgresStore(shop.pool(), { nothingWritten: 'warn', logger: { warn } });
    const reference = newReference();
    expect(await run(store, reference, (tx) => tx.query(UPDATE, [reference]))).toBe('done');
    expect(warn).toHaveBeenCalledExactlyOnceWith(expect.stringContaining('no statement changed or returned a row'));
  });

  it.each([
    [
      'throws',
      () => {
        throw new Error('the log is full');
      },
    ],
    ['rejects', async () => Promise.reject(new Error('the log is full'))],
  ])('is acknowledged where the logger %s, and the process goes on (N15)', async (_how, warn) => {
    const logger = { warn };
    const store = postgresStore(shop.pool(), { nothingWritten: 'warn', logger });
    const reference = newReference();
    expect(await run(store, reference, (tx) => tx.query(UPDATE, [reference]))).toBe('done');
  });

  it('is refused by the dispatcher as by a receiver', async () => {
    const pool = shop.pool();
    const reference = newReference();
    const receive = shop.receiver(pool, (tx) => tx.query(UPDATE, [reference]));
    const logger = { warn: () => undefined, error: () => undefined };
    const dispatcher = createDispatcher(
      { idempotency: postgresStore(pool), logger },
      { 'payment.succeeded': (event, { tx }) => tx.query(UPDATE, [event.reference]) },
    );
    const delivery = { kind: 'payment.succeeded', rawBody: Buffer.from(JSON.stringify({ reference })), secretIndex: 0 };
    expect(await receive(reference)).toBe(503);
    await expect(dispatcher.dispatch(delivery, {})).rejects.toMatchObject({ status: 503 });
    await addOrder(reference);
    expect(await dispatcher.dispatch(delivery, {})).toMatchObject({ outcome: 'handled' });
    expect(await receive(reference)).toBe(200);
    expect(await shop.creditsOf(reference)).toBe(1);
  });
});

describe('a handler that wrote, read, or had nothing to write (N02)', () => {
  const unknownAfter = async (tx: PoolClient, reference: string): Promise<unknown> => tx.query(UPDATE, [reference]);

  it.each<[string, Work]>([
    [
      'WITH an UPDATE, a SELECT that counts',
      (tx, reference) => tx.query(`WITH paid AS (${updateOf(reference)} RETURNING 1) SELECT count(*) FROM paid`),
    ],
    [
      'WITH an INSERT, an UPDATE that finds nothing',
      (tx, reference) => tx.query(`WITH logged AS (INSERT INTO log VALUES ('x')) ${updateOf(reference)}`),
    ],
    ['a function', (tx, reference) => tx.query('SELECT pay($1)', [reference])],
    [
      'a function without rows',
      async (tx, reference) => {
        await tx.query('SELECT * FROM log_rows($1)', [reference]);
        await unknownAfter(tx, reference);
      },
    ],
    [
      'a procedure',
      async (tx, reference) => {
        await tx.query('CALL log_it($1)', [reference]);
        await unknownAfter(tx, reference);
      },
    ],
    [
      'DO',
      async (tx, reference) => {
        await tx.query("DO $$ BEGIN INSERT INTO log VALUES ('x'); END $$");
        await unknownAfter(tx, reference);
      },
    ],
    ['a trigger that writes elsewhere', (tx) => tx.query("UPDATE diverted SET reference = 'x'")],
    ['a trigger in place of an UPDATE', (tx) => tx.query("UPDATE diverted_view SET reference = 'x'")],
    ['a rule in place of an UPDATE', (tx) => tx.query("UPDATE ruled_view SET credited = 1 WHERE reference = 'nowhere'")],
    [
      'COPY',
      async (tx, reference) => {
        await tx.query("COPY log FROM PROGRAM 'echo copied'");
        await unknownAfter(tx, reference);
      },
    ],
    [
      'a portal that reads row by row',
      async (tx, reference) => {
        await tx.query({ text: 'SELECT generate_series(1, 3)', rows: 1 } as { text: string });
        await unknownAfter(tx, reference);
      },
    ],
    [
      'a cursor',
      async (tx, reference) => {
        await tx.query('DECLARE found CURSOR FOR SELECT 1; FETCH found');
        await unknownAfter(tx, reference);
      },
    ],
    ['a read that finds nothing', (tx, reference) => tx.query('SELECT FROM orders WHERE reference = $1', [reference])],
    ['no query', () => undefined],
  ])('is done, by %s', async (_, work) => {
    const store = postgresStore(shop.pool(), { logger: { warn: () => undefined } });
    const reference = newReference();
    expect(await run(store, reference, work)).toBe('done');
    expect(await store.isDone(reference)).toBe(true);
  });

  it('is done when INSERT … ON CONFLICT DO NOTHING finds its row, and an UPDATE nothing more to do', async () => {
    const reference = await shop.order();
    await shop.admin.query('INSERT INTO credits VALUES ($1)', [reference]);
    await shop.admin.query('UPDATE orders SET credited = 1 WHERE reference = $1', [reference]);
    const work: Work = async (tx) => {
      await tx.query('INSERT INTO credits VALUES ($1) ON CONFLICT DO NOTHING', [reference]);
      await tx.query(UPDATE, [reference]);
    };
    expect(await run(postgresStore(shop.pool()), reference, work)).toBe('done');
    expect(await shop.creditsOf(reference)).toBe(1);
  });

  it('is done when the order was paid by hand, without a mark', async () => {
    const reference = await shop.order();
    await shop.admin.query('UPDATE orders SET credited = 1 WHERE reference = $1', [reference]);
    const work: Work = async (tx) => {
      const { rows } = await tx.query<{ credited: number }>('SELECT credited FROM orders WHERE reference = $1 FOR UPDATE', [
        reference,
      ]);
      if (rows[0]!.credited > 0) return;
      await tx.query(UPDATE, [reference]);
    };
    expect(await run(postgresStore(shop.pool()), reference, work)).toBe('done');
    expect(await shop.creditsOf(reference)).toBe(1);
  });

  it('is told from others on the same connection', async () => {
    const store = postgresStore(shop.pool({ max: 1 }));
    const known = await shop.order();
    const unknown = newReference();
    const work: Work = (tx, reference) => tx.query(UPDATE, [reference]);
    for (let time = 0; time < 2; time += 1) {
      expect(await run(store, unknown, work)).toEqual(refusal);
      expect(await run(store, known, work)).toBe(time === 0 ? 'done' : 'duplicate');
    }
  });
});

describe('on PGlite', () => {
  let db: PGlite;
  beforeAll(async () => {
    db = new PGlite();
    await postgresStore(db).migrate();
    await db.exec(`CREATE TABLE orders (reference text PRIMARY KEY, credited int NOT NULL DEFAULT 0); ${TABLES}`);
  }, 120_000);
  afterAll(() => db.close());

  type LiteWork = (tx: Transaction, reference: string) => unknown;
  const runLite = (reference: string, work: LiteWork): Promise<unknown> =>
    postgresStore(db)
      .run(
        reference,
        async ({ tx }) => {
          await work(tx, reference);
        },
        { signal: neverAborted },
      )
      .catch((error: unknown) => error);

  it.each<[string, LiteWork]>([
    ['query', (tx, reference) => tx.query(UPDATE, [reference])],
    ['exec', (tx, reference) => tx.exec(`SET LOCAL lock_timeout = 1000; ${updateOf(reference)}`)],
    ['sql', (tx, reference) => tx.sql`UPDATE orders SET credited = credited + 1 WHERE reference = ${reference}`],
  ])('a handler whose order is not there yet is refused, by %s; credited on the retry (N01)', async (_, work) => {
    const reference = newReference();
    expect(await runLite(reference, work)).toEqual(refusal);
    await db.query('INSERT INTO orders (reference) VALUES ($1)', [reference]);
    expect(await runLite(reference, work)).toBe('done');
    const { rows } = await db.query('SELECT credited FROM orders WHERE reference = $1', [reference]);
    expect(rows).toEqual([{ credited: 1 }]);
  });

  it.each<[string, LiteWork]>([
    ['a function', (tx, reference) => tx.query('SELECT pay($1)', [reference])],
    ['a trigger', (tx) => tx.query("UPDATE diverted SET reference = 'x'")],
    ['WITH', (tx, reference) => tx.query(`WITH paid AS (${updateOf(reference)} RETURNING 1) SELECT count(*) FROM paid`)],
    ['a read that finds nothing', (tx, reference) => tx.query('SELECT FROM orders WHERE reference = $1', [reference])],
  ])('a handler that wrote or read is done, by %s (N02)', async (_, work) => {
    expect(await runLite(newReference(), work)).toBe('done');
  });

  it.each(['SELECT 1; COMMIT; BEGIN', '/* x */ COMMIT'])('a handler that says %s is refused (N12)', async (statement) => {
    const reference = newReference();
    const error = await runLite(reference, async (tx) => {
      await tx.exec(`INSERT INTO log VALUES ('${reference}')`);
      await tx.exec(statement);
    });
    expect(error).toMatchObject({ message: expect.stringContaining('SAVEPOINT') as string });
    expect((await db.query('SELECT FROM log WHERE reference = $1', [reference])).rows).toEqual([]);
  });
});
