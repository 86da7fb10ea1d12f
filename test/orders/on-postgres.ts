/** A PostgreSQL for one test file, right orders on it, and the means to break them. */
import { readFileSync } from 'node:fs';
import type { Order, Orders } from '@paylink/payments';
import { Pool, type Client, type PoolClient, type QueryResultRow } from 'pg';
import { afterAll } from 'vitest';
import { startPostgres } from '../servers/postgres.js';
import type { Broken } from './faults.js';

export type Find = Orders['find'];
export type Credit = Orders['credit'];

const TABLE = new URL('../../examples/databases/tables/postgres.sql', import.meta.url);

export const server = await startPostgres({ fsync: 'off' });
export const pool = new Pool({ connectionString: server.url, max: 10 });
pool.on('error', () => undefined);
afterAll(async () => {
  await Promise.race([pool.end(), server.close()]);
  await server.close();
});
await pool.query(`${readFileSync(TABLE, 'utf8')}; ALTER TABLE orders ADD tenant text`);

export const query = async <Row extends QueryResultRow>(
  sql: string,
  values: unknown[],
  on: Pool | PoolClient | Client = pool,
): Promise<Row[]> => (await on.query<Row>(sql, values)).rows;

export const write = async (
  sql: string,
  values: unknown[],
  on: Pool | PoolClient | Client = pool,
): Promise<number> => (await on.query(sql, values)).rowCount ?? 0;

/** A find by the reference as `$1`. */
export const findBy =
  (sql: string, on?: Client): Find =>
  async (reference) =>
    (await query<Order>(sql, [reference], on))[0];

/** A credit by the reference, the amount and the currency as `$1` to `$3`. */
export const creditBy =
  (sql: string): Credit =>
  ({ reference, amount, currency }) =>
    write(sql, [reference, amount, currency]);

export const orderIn = (table: string, more = ''): string =>
  `SELECT reference, amount, currency, paid_at IS NOT NULL AS paid FROM ${table} WHERE reference = $1 ${more}`;

export const markIn = (table: string): string =>
  `UPDATE ${table} SET paid_at = now() WHERE reference = $1 AND amount = $2 AND currency = $3 AND paid_at IS NULL`;

export const onTable = (table: string): Broken => ({
  orders: { find: findBy(orderIn(table)), credit: creditBy(markIn(table)) },
  createOrder: ({ reference, amount, currency, tenant }) =>
    pool.query(
      `INSERT INTO ${table} (reference, amount, currency, tenant) VALUES ($1, $2, $3, $4)`,
      [reference, amount, currency, tenant],
    ),
});
export const right = onTable('orders');

export const withOrders = (changes: Partial<Orders>): Broken => ({
  ...right,
  orders: { ...right.orders, ...changes },
});

export const references = async (rest: string): Promise<string[]> =>
  (await query<Order>(`SELECT reference FROM orders WHERE ${rest}`, [])).map(
    ({ reference }) => reference,
  );
