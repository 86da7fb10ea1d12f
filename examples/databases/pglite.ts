import { PGlite } from '@electric-sql/pglite';
import type { Order, Orders } from '@paylink/payments';

// Use one process only: a second one loses committed orders, and can damage the folder.
export const db = new PGlite(process.env['DATABASE_FOLDER']);

export const orders: Orders = {
  async find(reference) {
    // PGlite has only one connection. In a transaction that has written, find returns nothing.
    const { rows } = await db.query<Order>(
      `SELECT reference, amount, currency, paid_at IS NOT NULL AS paid FROM orders
        WHERE reference = $1 AND pg_current_xact_id_if_assigned() IS NULL`,
      [reference],
    );
    return rows[0];
  },
  async credit({ reference, amount, currency }) {
    const { affectedRows } = await db.query(
      `UPDATE orders SET paid_at = now()
        WHERE reference = $1 AND amount = $2 AND currency = $3 AND paid_at IS NULL`,
      [reference, amount, currency],
    );
    return affectedRows ?? 0;
  },
  unpaid: () => references('paid_at IS NULL'),
  paid: () => references('paid_at IS NOT NULL'),
};

async function references(condition: string): Promise<string[]> {
  const { rows } = await db.query<Order>(
    `SELECT reference FROM orders
      WHERE created_at > now() - interval '30 days' AND ${condition} ORDER BY created_at`,
  );
  return rows.map(({ reference }) => reference);
}

export const close = () => db.close();
