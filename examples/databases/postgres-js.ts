import type { Order, Orders } from '@paylink/payments';
import postgres from 'postgres';

const url = process.env['DATABASE_URL'] ?? '';
const sql = postgres(url);
// Separate connections, so that find sees only committed rows.
const reader = postgres(url, { max: 2 });

export const orders: Orders = {
  async find(reference) {
    const [order] = await reader<Order[]>`
      SELECT reference, amount, currency, paid_at IS NOT NULL AS paid
      FROM orders WHERE reference = ${reference}`;
    return order;
  },
  async credit({ reference, amount, currency }) {
    const { count } = await sql`
      UPDATE orders SET paid_at = now()
      WHERE reference = ${reference} AND amount = ${amount} AND currency = ${currency}
        AND paid_at IS NULL`;
    return count;
  },
  async unpaid() {
    const rows = await reader<Order[]>`
      SELECT reference FROM orders
      WHERE paid_at IS NULL AND created_at > now() - interval '30 days' ORDER BY created_at`;
    return rows.map(({ reference }) => reference);
  },
  async paid() {
    const rows = await reader<Order[]>`
      SELECT reference FROM orders WHERE paid_at > now() - interval '30 days'`;
    return rows.map(({ reference }) => reference);
  },
};

export const close = () => Promise.all([sql.end({ timeout: 5 }), reader.end({ timeout: 5 })]);
