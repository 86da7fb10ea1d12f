/** A credit that ends its transaction: never a mark without its credit, nor a second credit. */
import { PGlite } from '@electric-sql/pglite';
import { postgresStore, type PostgresStore } from '@paylink/postgres';
import { sql } from 'drizzle-orm';
import { drizzle } from 'drizzle-orm/node-postgres';
import type { PoolClient } from 'pg';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import {
  credit,
  creditOnce,
  keyOf,
  receiverOn,
  runOf,
  Shop,
  silent as logger,
  transaction,
  type Tx,
} from './shop.js';

let shop: Shop;
beforeAll(async () => {
  shop = await Shop.open({ max_prepared_transactions: 5 });
  await shop.admin.query('CREATE PROCEDURE ending() LANGUAGE plpgsql AS $$ BEGIN COMMIT; END $$');
}, 120_000);
afterEach(() => shop.rest());
afterAll(() => shop.close());

const WAYS: readonly string[] = [
  'COMMIT',
  'COMMIT; BEGIN',
  'ROLLBACK',
  'ROLLBACK; BEGIN',
  'COMMIT AND CHAIN',
  'ROLLBACK AND CHAIN',
  'END; START TRANSACTION',
  'ABORT; BEGIN',
  'COMMIT; BEGIN ISOLATION LEVEL SERIALIZABLE',
  '-- x\rCOMMIT; BEGIN',
  '/* /* x */ */ COMMIT; BEGIN',
  'SELECT 1; COMMIT; BEGIN; SELECT 2',
  'SELECT $ä$;$ä$; COMMIT; BEGIN',
  "SELECT E'a'\n'\\''; COMMIT; BEGIN; SELECT '1'",
  'SELECT 1 AS ";"; ROLLBACK; BEGIN',
  'SAVEPOINT a; COMMIT; BEGIN; SAVEPOINT a',
  "PREPARE TRANSACTION 'x'",
  "PREPARE TRANSACTION 'x'; BEGIN",
  'DO $$ BEGIN COMMIT; END $$',
  'CALL ending()',
];

type Run = (work: (tx: Tx) => Promise<number>) => Promise<number>;

const driverStore = (): PostgresStore<PoolClient> => {
  const pool = shop.pool();
  return postgresStore({
    transaction: (work: (tx: PoolClient) => Promise<void>) => transaction(pool, work),
    query: async (tx, text) => (await (tx ?? pool).query<object>(text)).rows,
  });
};

describe.each<[name: string, open: () => PostgresStore<Tx>]>([
  ['a pool', () => postgresStore(shop.pool(), { logger })],
  ['a driver', driverStore],
])('a credit on %s that sends', (_, open) => {
  describe.each(WAYS)('%j', (way) => {
    it.each(['before its write', 'after it', 'before and after it'])('%s', async (place) => {
      const store = open();
      const reference = await shop.order();
      const end = (tx: Tx) => tx.query(way).catch(() => undefined);
      const deliver = receiverOn(store, async (tx, order) => {
        if (place !== 'after it') await end(tx);
        await credit(tx, order).catch(() => undefined);
        if (place !== 'before its write') await end(tx);
        return 1;
      });
      expect(await deliver(reference)).toBe(503);
      expect(await store.isDone(keyOf(reference))).toBe(false);
      await rollBackPrepared();
      await expectOneCredit(reference);
    });
  });
});

async function rollBackPrepared(): Promise<void> {
  const { rows } = await shop.admin.query<{ gid: string }>('SELECT gid FROM pg_prepared_xacts');
  for (const { gid } of rows) await shop.admin.query(`ROLLBACK PREPARED '${gid}'`);
}

/** Delivers again to a credit that follows the recipe, twice. */
async function expectOneCredit(reference: string): Promise<void> {
  const pool = shop.pool();
  const again = shop.receiver(pool, creditOnce);
  // The transaction of the credit that was refused may take a moment to end.
  await vi.waitFor(async () => expect(await again(reference)).toBe(200), 10_000);
  expect(await again(reference)).toBe(200);
  expect(await shop.creditsOf(reference)).toBe(1);
  await shop.expectAtRest(pool);
}

describe('a credit that ends its transaction', () => {
  it.each([
    { name: 'ending', text: 'COMMIT' },
    { text: 'ROLLBACK', rowMode: 'array' },
  ])('refuses a credit that ends its transaction by a query object: %o', async (query) => {
    const reference = await shop.order();
    const deliver = shop.receiver(shop.pool(), async (tx, order) => {
      await credit(tx, order);
      await tx.query(query);
      return 1;
    });
    expect(await deliver(reference)).toBe(503);
    await expectOneCredit(reference);
  });

  it('refuses a credit that ends its transaction without await', async () => {
    const reference = await shop.order();
    const deliver = shop.receiver(shop.pool(), async (tx, order) => {
      await credit(tx, order);
      void tx.query('COMMIT; BEGIN');
      return 1;
    });
    expect(await deliver(reference)).toBe(503);
    await expectOneCredit(reference);
  });

  it('tells the credit to use a savepoint', async () => {
    const run: Run = async (work) => {
      const reference = await shop.order();
      const store = postgresStore(shop.pool(), { logger });
      await store.run(keyOf(reference), async (tx) => void (await work(tx)), runOf(reference));
      return 1;
    };
    await expect(run(async (tx) => (await tx.query('COMMIT')).rowCount ?? 1)).rejects.toMatchObject(
      {
        code: 'not_credited',
        status: 503,
        message: expect.stringContaining('use SAVEPOINT and ROLLBACK TO') as string,
      },
    );
  });

  it('refuses a COMMIT in the raw SQL of Drizzle, in its own transaction and over `tx`', async () => {
    const own = postgresStore(drizzle({ client: shop.pool() }), { logger });
    const over = postgresStore(shop.pool(), { tx: (client) => drizzle({ client }), logger });
    for (const store of [own, over] as PostgresStore<
      Pick<ReturnType<typeof drizzle>, 'execute'>
    >[]) {
      const reference = await shop.order();
      const deliver = receiverOn(store, async (tx, order) => {
        const set = sql`UPDATE orders SET credited = credited + 1 WHERE reference = ${order}`;
        await tx.execute(set);
        await tx.execute(sql.raw('COMMIT; BEGIN'));
        return 1;
      });
      expect(await deliver(reference)).toBe(503);
      expect(await store.isDone(keyOf(reference))).toBe(false);
      await expectOneCredit(reference);
    }
  });

  it.each(['COMMIT', 'ROLLBACK', 'COMMIT AND CHAIN', 'COMMIT; BEGIN', 'ROLLBACK; BEGIN'])(
    'refuses a credit that ends its transaction on PGlite: %s',
    async (way) => {
      const lite = new PGlite();
      const store = postgresStore(lite, { logger });
      await store.migrate();
      await lite.exec('CREATE TABLE credits (reference text); CREATE TABLE orders (paid bool)');
      const insert = 'INSERT INTO credits VALUES ($1)';
      const deliver = receiverOn(store, async (tx, reference) => {
        await tx.query(insert, [reference]);
        // A text of two statements fails in the extended protocol. The transaction is then over
        // too.
        await tx.query(way).catch(() => undefined);
        return 1;
      });
      expect(await deliver('order-1')).toBe(503);
      expect(await store.isDone(keyOf('order-1'))).toBe(false);
      const recipe = receiverOn(store, async (tx, reference) => {
        const found = 'SELECT 1 FROM credits WHERE reference = $1';
        if ((await tx.query(found, [reference])).rows.length > 0) return 'already_credited';
        return (await tx.query(insert, [reference])).affectedRows;
      });
      expect([await recipe('order-1'), await recipe('order-1')]).toEqual([200, 200]);
      expect((await lite.query('SELECT * FROM credits')).rows).toHaveLength(1);
      await lite.close();
    },
  );
});

it.each([
  "SELECT 'a; COMMIT; b' AS commit",
  '/* COMMIT; */ SELECT 1; -- ROLLBACK',
  'SELECT $x$; COMMIT; $x$, $$; END $$',
  'SELECT CASE WHEN true THEN 1 END; SELECT 2',
  'SAVEPOINT a; ROLLBACK WORK TO SAVEPOINT a; RELEASE a',
  'BEGIN',
])('credits although a statement looks like an end of the transaction: %s', async (statement) => {
  const reference = await shop.order();
  const deliver = shop.receiver(shop.pool(), async (tx, order) => {
    await tx.query(statement);
    return credit(tx, order);
  });
  expect(await deliver(reference)).toBe(200);
  expect(await shop.creditsOf(reference)).toBe(1);
});
