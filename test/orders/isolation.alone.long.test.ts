/** Right `orders` on PostgreSQL whose default isolation refuses the call that comes second. */
import type { Order } from '@paylink/payments';
import { Pool } from 'pg';
import { expect, it } from 'vitest';
import { faultsOf, type Broken } from './faults.js';
import { pool, server } from './on-postgres.js';

await pool.query(`
  CREATE TABLE wallets (id int PRIMARY KEY, balance bigint NOT NULL);
  INSERT INTO wallets VALUES (1, 0);
  CREATE TABLE payments (reference text PRIMARY KEY)`);

const MARK =
  'UPDATE orders SET paid_at = now() WHERE reference = $1 AND amount = $2 AND currency = $3 AND paid_at IS NULL';

/** Marks the order, adds to a wallet and stores a payment, in one transaction. */
function shopOn(isolation: string): { options: Broken; close: () => Promise<void> } {
  const connectionString = `${server.url}?options=-c%20default_transaction_isolation%3D${isolation}`;
  const own = new Pool({ connectionString, max: 10 });
  const numberOf = async (sql: string, ...values: string[]): Promise<number> =>
    Number((await own.query<{ n: string }>(sql, values)).rows[0]!.n);
  const options: Broken = {
    orders: {
      async find(reference) {
        const sql =
          'SELECT reference, amount, currency, paid_at IS NOT NULL AS paid FROM orders WHERE reference = $1';
        return (await own.query<Order>(sql, [reference])).rows[0];
      },
      async credit({ reference, amount, currency }) {
        const client = await own.connect();
        try {
          await client.query('BEGIN');
          const { rowCount } = await client.query(MARK, [reference, amount, currency]);
          if (rowCount === 1) {
            await client.query('UPDATE wallets SET balance = balance + $1', [amount]);
            await client.query('INSERT INTO payments VALUES ($1)', [reference]);
          }
          await client.query('COMMIT');
          return rowCount;
        } catch (error) {
          await client.query('ROLLBACK');
          throw error;
        } finally {
          client.release();
        }
      },
    },
    createOrder: ({ reference, amount, currency }) =>
      own.query('INSERT INTO orders (reference, amount, currency) VALUES ($1, $2, $3)', [
        reference,
        amount,
        currency,
      ]),
    total: () => numberOf('SELECT balance AS n FROM wallets'),
    effects: (reference) =>
      numberOf('SELECT count(*) AS n FROM payments WHERE reference = $1', reference),
  };
  return { options, close: () => own.end() };
}

it.each(['repeatable\\ read', 'serializable'])(
  'accuses no right orders on %s',
  { tags: 'Q21' },
  async (level) => {
    const { options, close } = shopOn(encodeURIComponent(level));
    expect(await faultsOf(options)).toEqual([]);
    await close();
  },
);

it('accuses no credit whose unique row of the payment comes first', { tags: 'Q21' }, async () => {
  const { options, close } = shopOn('read%5C%20committed');
  const credit: Broken['orders']['credit'] = async ({ reference, amount, currency }) => {
    const client = await pool.connect();
    try {
      await client.query('BEGIN');
      const { rowCount } = await client.query(
        'INSERT INTO payments SELECT reference FROM orders WHERE reference = $1 AND amount = $2 AND currency = $3',
        [reference, amount, currency],
      );
      await client.query('UPDATE wallets SET balance = balance + $1::bigint * $2', [
        amount,
        rowCount,
      ]);
      if (rowCount === 1)
        await client.query('UPDATE orders SET paid_at = now() WHERE reference = $1', [reference]);
      await client.query('COMMIT');
      return rowCount;
    } catch (error) {
      await client.query('ROLLBACK');
      throw error;
    } finally {
      client.release();
    }
  };
  const { find } = options.orders;
  expect(await faultsOf({ ...options, orders: { find, credit } })).toEqual([]);
  await close();
});
