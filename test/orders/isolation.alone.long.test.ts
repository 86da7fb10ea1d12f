/** Right `orders` on PostgreSQL whose default isolation refuses the call that comes second. */
import { Pool, type PoolClient } from 'pg';
import { expect, it } from 'vitest';
import { faultsOf } from './faults.js';
import {
  findBy,
  MARK,
  orderIn,
  pay,
  pool,
  query,
  right,
  server,
  transaction,
  write,
} from './on-postgres.js';
import type { Payment } from './shop.js';

await pool.query(`
  CREATE TABLE wallets (id int PRIMARY KEY, balance bigint NOT NULL);
  INSERT INTO wallets VALUES (1, 0);
  CREATE TABLE payments (reference text PRIMARY KEY)`);

/** Marks the order, adds to a wallet and stores a payment. */
async function markFirst(client: PoolClient, payment: Payment): Promise<number> {
  const count = await pay(MARK, payment, client);
  if (count === 1) {
    await write('UPDATE wallets SET balance = balance + $1', [payment.amount], client);
    await write('INSERT INTO payments VALUES ($1)', [payment.reference], client);
  }
  return count;
}

/** Stores the payment first, whose unique row decides. */
async function paymentFirst(client: PoolClient, payment: Payment): Promise<number> {
  const sql =
    'INSERT INTO payments SELECT reference FROM orders WHERE reference = $1 AND amount = $2 AND currency = $3';
  const count = await pay(sql, payment, client);
  const amount = payment.amount * count;
  await write('UPDATE wallets SET balance = balance + $1', [amount], client);
  if (count === 1)
    await write(
      'UPDATE orders SET paid_at = now() WHERE reference = $1',
      [payment.reference],
      client,
    );
  return count;
}

it.each([
  ['repeatable read', 'the mark', markFirst],
  ['serializable', 'the mark', markFirst],
  ['read committed', 'the unique row of the payment', paymentFirst],
])('accuses no right orders on %s that write %s first', { tags: 'Q21' }, async (level, _, work) => {
  const isolation = encodeURIComponent(level.replace(' ', '\\ '));
  const connectionString = `${server.url}?options=-c%20default_transaction_isolation%3D${isolation}`;
  const own = new Pool({ connectionString, max: 10 });
  const numberOf = async (sql: string, values: unknown[]): Promise<number> =>
    Number((await query<{ n: string }>(sql, values, own))[0]!.n);
  const options = {
    ...right,
    orders: {
      find: findBy(orderIn('orders'), own),
      credit: (payment: Payment) => transaction((client) => work(client, payment), own),
    },
    total: () => numberOf('SELECT balance AS n FROM wallets', []),
    effects: (reference: string) =>
      numberOf('SELECT count(*) AS n FROM payments WHERE reference = $1', [reference]),
  };
  expect(await faultsOf(options)).toEqual([]);
  await own.end();
});
