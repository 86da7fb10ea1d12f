import type { Orders } from '@paylink/payments';
import { Pool } from 'pg';

const connectionString = process.env['DATABASE_URL'];
const pool = new Pool({ connectionString });
const reader = new Pool({ connectionString, max: 2 });
for (const each of [pool, reader]) each.on('error', ({ message }) => console.error(message));

type Row = Record<'reference' | 'min' | 'max' | 'currency', string> & { paid: boolean };

export const orders: Orders = {
  async find(reference) {
    const { rows } = await reader.query<Row>(
      `SELECT reference, amount_min AS min, amount_max AS max, currency, paid_at IS NOT NULL AS paid
        FROM donations WHERE reference = $1`,
      [reference],
    );
    const [row] = rows;
    return row && { ...row, amount: { min: row.min, max: row.max } };
  },
  // Stores the paid amount, which Paylink has checked against the bounds.
  async credit({ reference, amount, currency }) {
    const { rowCount } = await pool.query(
      `UPDATE donations SET paid_at = now(), amount_paid = $2
        WHERE reference = $1 AND currency = $3 AND paid_at IS NULL`,
      [reference, amount, currency],
    );
    return rowCount;
  },
  unpaid: () => references('paid_at IS NULL'),
  paid: () => references('paid_at IS NOT NULL'),
};

async function references(condition: string): Promise<string[]> {
  const { rows } = await reader.query<Row>(
    `SELECT reference FROM donations
      WHERE created_at > now() - interval '30 days' AND ${condition} ORDER BY created_at`,
  );
  return rows.map(({ reference }) => reference);
}

export const close = () => Promise.all([pool.end(), reader.end()]);
