import type { Order, Orders } from '@paylink/payments';
import { Pool } from 'pg';

const connectionString = process.env['DATABASE_URL'];
const pool = new Pool({ connectionString });
// A separate pool, so that find sees only committed rows.
const reader = new Pool({ connectionString, max: 2 });
// Without a listener, a lost connection would end the process.
for (const each of [pool, reader]) each.on('error', ({ message }) => console.error(message));

export const orders: Orders = {
  async find(reference) {
    const { rows } = await reader.query<Order>(
      `SELECT reference, amount, currency, paid_at IS NOT NULL AS paid FROM orders
        WHERE reference = $1`,
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
  unpaid: () => references('paid_at IS NULL'),
  paid: () => references('paid_at IS NOT NULL'),
};

async function references(condition: string): Promise<string[]> {
  const { rows } = await reader.query<Order>(
    `SELECT reference FROM orders
      WHERE created_at > now() - interval '30 days' AND ${condition} ORDER BY created_at`,
  );
  return rows.map(({ reference }) => reference);
}

export const close = () => Promise.all([pool.end(), reader.end()]);
