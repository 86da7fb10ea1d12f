import { env } from 'cloudflare:workers';
import type { Order, Orders } from '@paylink/payments';

interface OrderRow extends Omit<Order, 'paid'> {
  readonly paid_at: string | null;
}
// The `DB` binding from wrangler.jsonc.
const db = env.DB;
const lastMonth = "created_at > datetime('now', '-30 days')";

export const orders: Orders = {
  async find(reference) {
    const select = db.prepare('SELECT * FROM orders WHERE reference = ?').bind(reference);
    const order = await select.first<OrderRow>();
    return order && { ...order, paid: order.paid_at !== null };
  },
  async credit({ reference, amount, currency }) {
    const update = db.prepare(
      `UPDATE orders SET paid_at = CURRENT_TIMESTAMP
        WHERE reference = ? AND amount = ? AND currency = ? AND paid_at IS NULL`,
    );
    const { meta } = await update.bind(reference, amount, currency).run();
    return Math.min(meta.changes, 1); // D1 also counts rows that triggers write
  },
  unpaid: () => references('paid_at IS NULL'),
  paid: () => references('paid_at IS NOT NULL'),
};

async function references(condition: string): Promise<string[]> {
  const select = `SELECT reference FROM orders
    WHERE ${condition} AND ${lastMonth} ORDER BY created_at`;
  const { results } = await db.prepare(select).all<OrderRow>();
  return results.map(({ reference }) => reference);
}
