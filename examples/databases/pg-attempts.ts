import type { Order, Orders } from '@paylink/payments';
import { Pool } from 'pg';

const connectionString = process.env['DATABASE_URL'];
const pool = new Pool({ connectionString });
const reader = new Pool({ connectionString, max: 2 });
for (const each of [pool, reader]) each.on('error', ({ message }) => console.error(message));

// A customer who tries again gets a new link, and therefore a new row in attempts.
export const orders: Orders = {
  // Only the link in paid_reference is paid. A paid purchase's other links are closed.
  async find(reference) {
    const { rows } = await reader.query<Order>(
      `SELECT reference, amount, currency, coalesce(paid_reference = reference, false) AS paid,
        coalesce(paid_reference <> reference, false) AS closed FROM attempts
        JOIN purchases ON id = purchase WHERE reference = $1`,
      [reference],
    );
    return rows[0];
  },
  async credit({ reference, amount, currency }) {
    const { rowCount } = await pool.query(
      `UPDATE purchases SET paid_reference = $1
        WHERE id = (SELECT purchase FROM attempts WHERE reference = $1) AND amount = $2
        AND currency = $3 AND paid_reference IS NULL`,
      [reference, amount, currency],
    );
    return rowCount;
  },
  // Includes a paid purchase's other links: reconcile lists a second payment as undecided.
  unpaid: () => references('paid_reference IS DISTINCT FROM reference'),
  paid: () => references('paid_reference = reference'),
};

async function references(condition: string): Promise<string[]> {
  const { rows } = await reader.query<Order>(
    `SELECT reference FROM attempts JOIN purchases ON id = purchase
      WHERE ${condition} AND attempts.created_at > now() - interval '30 days'
      ORDER BY attempts.created_at`,
  );
  return rows.map(({ reference }) => reference);
}

export const close = () => Promise.all([pool.end(), reader.end()]);
