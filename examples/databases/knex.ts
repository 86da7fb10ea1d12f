import type { Orders } from '@paylink/payments';
import createKnex from 'knex';

interface OrderRow {
  reference: string;
  amount: string; // pg reads a bigint as text
  currency: string;
  created_at: Date;
  paid_at: Date | null;
}
const connection = process.env['DATABASE_URL'] ?? '';
const knex = createKnex({ client: 'pg', connection });
// A separate pool, so that find sees only committed rows.
const reader = createKnex({ client: 'pg', connection, pool: { min: 0, max: 2 } });

export const orders: Orders = {
  async find(reference) {
    const order = await reader<OrderRow>('orders').where({ reference }).first();
    return order && { ...order, paid: order.paid_at !== null };
  },
  async credit({ reference, amount, currency }) {
    return knex<OrderRow>('orders')
      .where({ reference, amount: String(amount), currency, paid_at: null })
      .update({ paid_at: knex.fn.now() });
  },
  unpaid: () => references('paid_at IS NULL'),
  paid: () => references('paid_at IS NOT NULL'),
};

async function references(condition: string): Promise<string[]> {
  const rows = reader<OrderRow>('orders').whereRaw(condition).orderBy('created_at');
  return rows.whereRaw("created_at > now() - interval '30 days'").pluck('reference');
}

export const close = () => Promise.all([knex.destroy(), reader.destroy()]);
