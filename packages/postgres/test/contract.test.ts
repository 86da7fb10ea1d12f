import { PGlite } from '@electric-sql/pglite';
import { testIdempotencyStore } from '@paylink/testing';
import { postgresStore } from '@paylink/postgres';
import type { PoolClient } from 'pg';
import { afterAll, afterEach, beforeAll, describe, it } from 'vitest';
import { Shop, transaction } from './shop.js';

let shop: Shop;
let lite: PGlite;

beforeAll(async () => {
  shop = await Shop.open();
  lite = new PGlite();
  await postgresStore(lite).migrate();
}, 120_000);
afterEach(() => shop.rest());
afterAll(async () => {
  await lite.close();
  await shop.close();
});

const runner = { describe, it };
/** The suite's work leaves `tx` alone, which the store would warn about. */
const quiet = { logger: { warn: () => undefined } };

testIdempotencyStore('a store on a pool of pg', () => postgresStore(shop.pool({ max: 10 }), quiet), runner);

testIdempotencyStore('a store on a pool of one connection', () => postgresStore(shop.pool({ max: 1 }), quiet), runner, {
  oneAtATime: true,
});

testIdempotencyStore(
  'a store on a pool that is serializable',
  () => postgresStore(shop.pool({ max: 10 }), { isolation: 'serializable', ...quiet }),
  runner,
);

testIdempotencyStore(
  'a store on transactions of an ORM',
  () => {
    const pool = shop.pool({ max: 10 });
    return postgresStore({ transaction: (work: (tx: PoolClient) => Promise<void>) => transaction(pool, work) }, quiet);
  },
  runner,
);

testIdempotencyStore('a store on PGlite', () => postgresStore(lite, quiet), runner, { oneAtATime: true });
