import type { Order, Orders } from '@paylink/payments';
import { Pool } from 'pg';

const connectionString = process.env['DATABASE_URL'];
const pool = new Pool({ connectionString });
const reader = new Pool({ connectionString, max: 2 });
for (const each of [pool, reader]) each.on('error', ({ message }) => console.error(message));

// Unique: (merchant, reference). Two merchants may use the same reference.
export const orders: Orders = {
  async find(reference, { tenant }) {
    const { rows } = await reader.query<Order>(
      `SELECT reference, amount, currency, paid_at IS NOT NULL AS paid FROM tenant_orders
        WHERE merchant = $1 AND reference = $2`,
      [tenant, reference],
    );
    return rows[0];
  },
  async credit({ reference, amount, currency }, { tenant }) {
    const { rowCount } = await pool.query(
      `UPDATE tenant_orders SET paid_at = now()
        WHERE merchant = $1 AND reference = $2 AND amount = $3 AND currency = $4
        AND paid_at IS NULL`,
      [tenant, reference, amount, currency],
    );
    return rowCount;
  },
  unpaid: ({ tenant }) => references('paid_at IS NULL', tenant),
  paid: ({ tenant }) => references('paid_at IS NOT NULL', tenant),
};

async function references(condition: string, tenant: string | null): Promise<string[]> {
  const { rows } = await reader.query<Order>(
    `SELECT reference FROM tenant_orders
      WHERE merchant = $1 AND created_at > now() - interval '30 days' AND ${condition}
      ORDER BY created_at`,
    [tenant],
  );
  return rows.map(({ reference }) => reference);
}

export const close = () => Promise.all([pool.end(), reader.end()]);
