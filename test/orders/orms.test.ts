/** Caches of ORMs in `find`: each is caught by the sentence that names its fault. */
import { readFileSync } from 'node:fs';
import type { Order } from '@paylink/payments';
import { Pool } from 'pg';
import { afterAll, expect, it } from 'vitest';
import { startPostgres } from '../servers/postgres.js';
import { faultsOf, type Broken } from './faults.js';

const server = await startPostgres({ fsync: 'off' });
process.env['DATABASE_URL'] = server.url;
const pool = new Pool({ connectionString: server.url, max: 2 });
await pool.query(
  readFileSync(new URL('../../examples/databases/tables/postgres.sql', import.meta.url), 'utf8'),
);
const mikroOrm = await import('../../examples/databases/mikro-orm.js');
const typeOrm = await import('../../examples/databases/typeorm.js');
afterAll(async () => {
  await Promise.all([mikroOrm.close(), typeOrm.close(), pool.end()]);
  await server.close();
});

const createOrder: Broken['createOrder'] = ({ reference, amount, currency }) =>
  pool.query('INSERT INTO orders (reference, amount, currency) VALUES ($1, $2, $3)', [
    reference,
    amount,
    currency,
  ]);
const CACHED = /^find was called before the credit or meanwhile, and still returns an unpaid order/;

interface Row extends Omit<Order, 'paid'> {
  readonly paidAt: Date | null;
}

it("names the fault of MikroORM's one entity manager", { tags: 'P37' }, async () => {
  const em = mikroOrm.db.em.fork();
  const options: Broken = {
    createOrder,
    orders: {
      async find(reference) {
        const row = await em.findOne<Row>('orders', { reference });
        return row && { ...row, paid: row.paidAt !== null };
      },
      credit: mikroOrm.orders.credit,
    },
  };
  expect(await faultsOf(options, CACHED)).toContainEqual(expect.stringMatching(CACHED));
});

it("names the fault of TypeORM's `cache`", { tags: 'P37' }, async () => {
  const { options: source } = typeOrm.db;
  const DataSource = typeOrm.db.constructor as new (options: object) => typeof typeOrm.db;
  const cache = { type: 'database', duration: 60_000 };
  const cached = await new DataSource({ ...source, cache }).initialize();
  await cached.queryResultCache?.synchronize();
  const table = cached.getRepository<Row>('OrderRow');
  const options: Broken = {
    createOrder,
    orders: {
      async find(reference) {
        const row = await table.findOne({ where: { reference }, cache: true });
        return row && { ...row, paid: row.paidAt !== null };
      },
      credit: typeOrm.orders.credit,
    },
  };
  const faults = await faultsOf(options, CACHED);
  await cached.destroy();
  expect(faults).toContainEqual(expect.stringMatching(CACHED));
});
