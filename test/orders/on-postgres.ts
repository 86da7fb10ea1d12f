/** A PostgreSQL for one test file, right orders on it, and the means to break them. */
import { readFileSync } from 'node:fs';
import type { Order, Orders } from '@paylink/payments';
import { Pool, type Client, type PoolClient, type QueryResultRow } from 'pg';
import { afterAll } from 'vitest';
import { startPostgres } from '../servers/postgres.js';
import type { Broken } from './faults.js';
import type { Credit, Find, Payment } from './shop.js';

const TABLE = new URL('../../examples/databases/tables/postgres.sql', import.meta.url);

export const server = await startPostgres({ fsync: 'off' });
export const pool = new Pool({ connectionString: server.url, max: 10 });
pool.on('error', () => undefined);
afterAll(async () => {
  await Promise.race([pool.end(), server.close()]);
  await server.close();
});
await pool.query(`${readFileSync(TABLE, 'utf8')}; ALTER TABLE orders ADD tenant text`);

type On = Pool | PoolClient | Client;

export const query = async <Row extends QueryResultRow>(
  sql: string,
  values: unknown[],
  on: On = pool,
): Promise<Row[]> => (await on.query<Row>(sql, values)).rows;

export const write = async (sql: string, values: unknown[], on: On = pool): Promise<number> =>
  (await on.query(sql, values)).rowCount ?? 0;

/** Writes with the reference, the amount and the currency as `$1` to `$3`. */
export const pay = (sql: string, { reference, amount, currency }: Payment, on?: On) =>
  write(sql, [reference, amount, currency], on);

/** A find by the reference as `$1`. */
export const findBy =
  (sql: string, on?: On): Find =>
  async (reference) =>
    (await query<Order>(sql, [reference], on))[0];

export const creditBy =
  (sql: string): Credit =>
  (payment) =>
    pay(sql, payment);

export const orderIn = (table: string, more = ''): string =>
  `SELECT reference, amount, currency, paid_at IS NOT NULL AS paid FROM ${table} WHERE reference = $1 ${more}`;

/** A conditional write. */
export const markIn = (
  table: string,
  condition = 'reference = $1 AND amount = $2 AND currency = $3',
): string => `UPDATE ${table} SET paid_at = now() WHERE (${condition}) AND paid_at IS NULL`;
export const MARK = markIn('orders');

export const onTable = (table: string): Broken => ({
  orders: { find: findBy(orderIn(table)), credit: creditBy(markIn(table)) },
  createOrder: ({ reference, amount, currency, tenant }) =>
    write(`INSERT INTO ${table} (reference, amount, currency, tenant) VALUES ($1, $2, $3, $4)`, [
      ...[reference, amount, currency],
      tenant,
    ]),
});
export const right = onTable('orders');

export const withOrders = (changes: Partial<Orders>): Broken => ({
  ...right,
  orders: { ...right.orders, ...changes },
});

/** A transaction that is right as such. */
export async function transaction(
  work: (client: PoolClient) => Promise<number>,
  on: Pool = pool,
): Promise<number> {
  const client = await on.connect();
  try {
    await client.query('BEGIN');
    const count = await work(client);
    await client.query('COMMIT');
    return count;
  } catch (error) {
    await client.query('ROLLBACK');
    throw error;
  } finally {
    client.release();
  }
}
