/** Express on PostgreSQL by pg. The variable CREDIT names its credit: right or broken. */
import { createClient } from '@paylink/client';
import { paymentWebhook } from '@paylink/express';
import { createPayments } from '@paylink/payments';
import express from 'express';
import { Pool, type PoolClient } from 'pg';
import { orders } from '../../../examples/databases/pg.js';

const pool = new Pool({ connectionString: process.env['DATABASE_URL'] });
pool.on('error', () => undefined);
pool.on('connect', (client) => client.on('error', () => undefined));

const UNPAID = 'UPDATE orders SET paid_at = now() WHERE reference = $1 AND paid_at IS NULL';
const RECEIPT = 'INSERT INTO receipts VALUES ($1)';

async function right(client: PoolClient, reference: string): Promise<number | null> {
  await client.query('BEGIN');
  const { rowCount } = await client.query(UNPAID, [reference]);
  if (rowCount === 1) await client.query(RECEIPT, [reference]);
  await client.query('COMMIT');
  return rowCount;
}

async function broken(client: PoolClient, reference: string): Promise<number | null> {
  const { rowCount } = await client.query(UNPAID, [reference]);
  if (rowCount === 1) await client.query(RECEIPT, [reference]);
  return rowCount;
}

async function credit({ reference }: { readonly reference: string }): Promise<number | null> {
  const client = await pool.connect();
  try {
    const changed = await (process.env['CREDIT'] === 'right' ? right : broken)(client, reference);
    client.release();
    return changed;
  } catch (error) {
    client.release(true);
    throw error;
  }
}

const client = createClient({
  baseUrl: process.env['PAYLINK_BASE_URL']!,
  apiKey: process.env['PAYLINK_API_KEY']!,
});
const payments = createPayments({ client, orders: { ...orders, credit } });
const app = express();
app.post(
  '/webhook',
  paymentWebhook(
    { secret: process.env['WEBHOOK_SECRET'] },
    { 'payment.succeeded': payments.receive },
  ),
);
app.listen(Number(process.env['PORT']), '127.0.0.1');
