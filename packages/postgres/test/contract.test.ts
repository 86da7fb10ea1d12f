import { PGlite } from '@electric-sql/pglite';
import { postgresStore, type PostgresStore } from '@paylink/postgres';
import {
  testPaymentStore,
  type CreatedStore,
  type PaymentStoreSuiteOptions,
} from '@paylink/testing';
import { drizzle } from 'drizzle-orm/node-postgres';
import { sql } from 'drizzle-orm';
import type { PoolClient } from 'pg';
import { afterAll, afterEach, beforeAll, describe, it } from 'vitest';
import { Shop, silent as logger, transaction, type Tx } from './shop.js';

let shop: Shop;
let lite: PGlite;

const options = { inbox: true, logger } as const;
const rows = 'CREATE TABLE rows (id text)';
beforeAll(async () => {
  shop = await Shop.open();
  await postgresStore(shop.admin, options).migrate();
  await shop.admin.query(rows);
  lite = new PGlite();
  await postgresStore(lite, options).migrate();
  await lite.query(rows);
}, 120_000);
afterEach(() => shop.rest());
afterAll(async () => {
  await lite.close();
  await shop.close();
});

const INSERT = 'INSERT INTO rows VALUES ($1)';
const COUNT = 'SELECT count(*)::int AS count FROM rows WHERE id = $1';

const onServer = {
  write: (tx: Tx, id: string) => tx.query(INSERT, [id]),
  count: async (id: string) =>
    (await shop.admin.query<{ count: number }>(COUNT, [id])).rows[0]!.count,
};
const suite: PaymentStoreSuiteOptions = {
  capability: 'transactional',
  inbox: true,
  runner: { describe, it },
};

function test(name: string, open: () => PostgresStore<Tx>, oneAtATime = false): void {
  const create = (): CreatedStore<Tx> => ({ store: open(), other: open(), ...onServer });
  testPaymentStore(name, create, { ...suite, oneAtATime });
}

test('a store on a pool of pg', () => postgresStore(shop.pool({ max: 10 }), options));
test(
  'a store on a pool of one connection',
  () => postgresStore(shop.pool({ max: 1 }), options),
  true,
);
test('a store on a pool that is serializable', () =>
  postgresStore(shop.pool({ max: 10 }), { isolation: 'serializable', ...options }));
test('a store on transactions of a driver', () => {
  const pool = shop.pool({ max: 10 });
  return postgresStore(
    {
      transaction: (work: (tx: PoolClient) => Promise<void>) => transaction(pool, work),
      query: async (tx, text) => (await (tx ?? pool).query<object>(text)).rows,
    },
    options,
  );
});

testPaymentStore(
  'a store on Drizzle',
  () => {
    const open = () => postgresStore(drizzle({ client: shop.pool({ max: 10 }) }), options);
    const write = (tx: Pick<ReturnType<typeof drizzle>, 'execute'>, id: string) =>
      tx.execute(sql`INSERT INTO rows VALUES (${id})`);
    return { store: open(), other: open(), count: onServer.count, write };
  },
  suite,
);

testPaymentStore(
  'a store on PGlite',
  () => ({
    store: postgresStore(lite, options),
    other: postgresStore(lite, options),
    write: (tx: Pick<PGlite, 'query'>, id: string) => tx.query(INSERT, [id]),
    count: async (id) => (await lite.query<{ count: number }>(COUNT, [id])).rows[0]!.count,
  }),
  { ...suite, oneAtATime: true },
);
