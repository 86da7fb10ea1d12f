import { createServer } from 'node:http';
import { Pool } from 'pg';
import { createClient } from '@paylink/client';
import { paymentWebhook } from '@paylink/node';
import { createPayments, type Order, type Orders } from '@paylink/payments';

export const without = 'rule 10: the tenant in every condition';
export const seenBy = 'testOrders';

type NewOrder = { reference: string; amount: number; currency: string; tenant: string | null };

const connectionString = process.env['DATABASE_URL'];
const pool = new Pool({ connectionString });
const reader = new Pool({ connectionString, max: 2 });

export const tenants = ['merchant-1', 'merchant-2'];

export const createOrder = ({ reference, amount, currency, tenant }: NewOrder) =>
  pool.query(
    'INSERT INTO tenant_orders (merchant, reference, amount, currency) VALUES ($1, $2, $3, $4)',
    [tenant, reference, amount, currency],
  );

export const orders: Orders = {
  async find(reference) {
    const { rows } = await reader.query<Order>(
      `SELECT reference, amount, currency, paid_at IS NOT NULL AS paid
        FROM tenant_orders WHERE reference = $1`,
      [reference],
    );
    return rows[0];
  },
  async credit({ reference, amount, currency }) {
    const { rowCount } = await pool.query(
      `UPDATE tenant_orders SET paid_at = now()
        WHERE reference = $1 AND amount = $2 AND currency = $3
        AND paid_at IS NULL`,
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

const server = createServer(
  paymentWebhook(
    { secret: () => ({ secret: process.env['WEBHOOK_SECRET']!, tenant: 'merchant-1' }) },
    payments.receive,
  ),
);
// The schedule imports this file too, without a port.
if (process.env['PORT']) server.listen(Number(process.env['PORT']));
