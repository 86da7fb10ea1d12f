import type { Orders } from '@paylink/payments';
import createKnex from 'knex';

type Dates = { created_at: Date; published_at: Date | null; paid_at: Date | null };
interface OrderRow extends Dates {
  document_id: string;
  reference: string;
  amount: string; // pg reads a biginteger as text
  currency: string;
}
const connection = process.env['DATABASE_URL'] ?? '';
const knex = createKnex({ client: 'pg', connection });
// A separate pool, so that find sees only committed rows.
const reader = createKnex({ client: 'pg', connection, pool: { min: 0, max: 2 } });

export const orders: Orders = {
  // Drafts are not orders yet: their published_at is null.
  async find(reference) {
    const published = reader<OrderRow>('orders').where({ reference }).whereNotNull('published_at');
    const order = await published.first();
    return order && { ...order, paid: order.paid_at !== null };
  },
  async credit({ reference, amount, currency }) {
    const isDue = { reference, amount: String(amount), currency, paid_at: null };
    const due = knex<OrderRow>('orders').where(isDue).whereNotNull('published_at');
    // Marks the draft too, because publishing it again replaces the published row.
    const rows = knex<OrderRow>('orders').whereIn('document_id', due.select('document_id'));
    return Math.min(await rows.where({ paid_at: null }).update({ paid_at: knex.fn.now() }), 1);
  },
  unpaid: () => references('paid_at IS NULL'),
  paid: () => references('paid_at IS NOT NULL'),
};

async function references(condition: string): Promise<string[]> {
  const rows = reader<OrderRow>('orders').whereRaw(`published_at IS NOT NULL AND ${condition}`);
  const lastMonth = rows.whereRaw("created_at > now() - interval '30 days'");
  return lastMonth.orderBy('created_at').pluck('reference');
}

export const close = () => Promise.all([knex.destroy(), reader.destroy()]);
