import { defineEntity, MikroORM, p } from '@mikro-orm/postgresql';
import type { Orders } from '@paylink/payments';

const entity = defineEntity({
  name: 'orders',
  properties: {
    reference: p.text().primary(),
    amount: p.bigint('string'),
    currency: p.text(),
    createdAt: p.datetime(),
    paidAt: p.datetime().nullable(),
  },
});
const clientUrl = process.env['DATABASE_URL'] ?? '';
export const db = MikroORM.initSync({ clientUrl, entities: [entity] });
// A separate pool, so that find sees only committed rows.
const reader = MikroORM.initSync({ clientUrl, entities: [entity], pool: { max: 2 } });

export const orders: Orders = {
  async find(reference) {
    // A fork has an empty cache, and does not flush other code's changes.
    const order = await reader.em.fork().findOne(entity, { reference });
    return order && { ...order, paid: order.paidAt !== null };
  },
  async credit({ reference, amount, currency }) {
    const isDue = { reference, amount: String(amount), currency, paidAt: null };
    return db.em.fork().nativeUpdate(entity, isDue, { paidAt: new Date() });
  },
  unpaid: () => references(null),
  paid: () => references({ $ne: null }),
};

async function references(paidAt: { $ne: null } | null): Promise<string[]> {
  const where = { paidAt, createdAt: { $gt: new Date(Date.now() - 30 * 86_400_000) } };
  const rows = await reader.em.fork().find(entity, where, { orderBy: { createdAt: 'asc' } });
  return rows.map(({ reference }) => reference);
}

export const close = () => Promise.all([db.close(), reader.close()]);
