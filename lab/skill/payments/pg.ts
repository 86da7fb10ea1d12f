import { Pool } from 'pg';
import { createClient } from '@paylink/client';
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
    const { rowCount } = await pool.query(
      `UPDATE orders SET paid_at = now()
        WHERE reference = $1 AND amount = $2 AND currency = $3 AND paid_at IS NULL`,
      [reference, amount, currency],
    );
    return rowCount;
  },
};

const client = createClient({
  baseUrl: process.env['PAYLINK_BASE_URL'],
  apiKey: process.env['PAYLINK_API_KEY'],
});
export const payments = createPayments({ client, orders });
