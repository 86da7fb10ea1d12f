import type { Order, Orders } from '@paylink/payments';
import { Pool } from 'pg';

const connectionString = process.env['DATABASE_URL'];
const pool = new Pool({ connectionString });
const reader = new Pool({ connectionString, max: 2 });
for (const each of [pool, reader]) each.on('error', ({ message }) => console.error(message));

export const orders: Orders = {
  // A payment for a closed order gets a 409 order_closed and needs a manual decision.
  async find(reference) {
    const { rows } = await reader.query<Order>(
      `SELECT reference, amount, currency, paid_at IS NOT NULL AS paid,
        expires_at < now() AS closed FROM bookings WHERE reference = $1`,
      [reference],
    );
    return rows[0];
  },
  // The seat may be sold again after expires_at, so the write checks it too.
  async credit({ reference, amount, currency }) {
    const { rowCount } = await pool.query(
      `UPDATE bookings SET paid_at = now()
        WHERE reference = $1 AND amount = $2 AND currency = $3 AND paid_at IS NULL
        AND expires_at > now()`,
      [reference, amount, currency],
    );
    return rowCount;
  },
  // Includes recently closed orders, so that reconcile finds late payments.
  unpaid: () => references('paid_at IS NULL'),
  paid: () => references('paid_at IS NOT NULL'),
};

async function references(condition: string): Promise<string[]> {
  const { rows } = await reader.query<Order>(
    `SELECT reference FROM bookings
      WHERE created_at > now() - interval '30 days' AND ${condition} ORDER BY created_at`,
  );
  return rows.map(({ reference }) => reference);
}

export const close = () => Promise.all([pool.end(), reader.end()]);
