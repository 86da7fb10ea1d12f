import express from 'express';
import { Pool } from 'pg';
import { createClient } from '@paylink/client';
import { paymentWebhook } from '@paylink/express';
import { createPayments, type Order, type Orders } from '@paylink/payments';

type NewOrder = { reference: string; amount: number; currency: string };

const connectionString = process.env['DATABASE_URL'];
const pool = new Pool({ connectionString });
const reader = new Pool({ connectionString, max: 2 });

export const createOrder = ({ reference, amount, currency }: NewOrder) =>
  pool.query('INSERT INTO orders (reference, amount, currency) VALUES ($1, $2, $3)', [
    reference,
    amount,
    currency,
  ]);

export const orders: Orders = {
  async find(reference) {
    const { rows } = await reader.query<Order>(
      `SELECT reference, amount, currency, paid_at IS NOT NULL AS paid
        FROM orders WHERE reference = $1`,
      [reference],
    );
    return rows[0];
  },
  async credit({ reference, amount, currency }) {
    const connection = await pool.connect();
    try {
      await connection.query('BEGIN');
      const { rowCount } = await connection.query(
        `UPDATE orders SET paid_at = now()
          WHERE reference = $1 AND amount = $2 AND currency = $3 AND paid_at IS NULL`,
        [reference, amount, currency],
      );
      if (rowCount === 1)
        await connection.query('INSERT INTO receipts (reference) VALUES ($1)', [reference]);
      await connection.query('COMMIT');
      connection.release();
      return rowCount;
    } catch (error) {
      connection.release(true);
      throw error;
    }
  },
};

export async function effects(reference: string) {
  const { rowCount } = await reader.query('SELECT 1 FROM receipts WHERE reference = $1', [
    reference,
  ]);
  return rowCount ?? 0;
}

const client = createClient({
  baseUrl: process.env['PAYLINK_BASE_URL'],
  apiKey: process.env['PAYLINK_API_KEY'],
});
export const payments = createPayments({ client, orders });

const app = express();
app.post(
  '/webhooks/payments',
  paymentWebhook({ secret: process.env['WEBHOOK_SECRET'] }, payments.receive),
);
app.use(express.json());
app.get('/orders/:reference', async (req, res) => {
  res.json({ status: (await payments.settle(req.params.reference)).status });
});
// The schedule imports this file too, without a port.
if (process.env['PORT']) app.listen(Number(process.env['PORT']));
