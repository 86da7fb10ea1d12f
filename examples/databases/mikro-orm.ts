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

export const orders: Orders = {
  async find(reference) {
    // A fork has no cache, and flushes no work of other code.
    const order = await db.em.fork().findOne(entity, { reference });
    return order && { ...order, paid: order.paidAt !== null };
  },
  async credit({ reference, amount, currency }) {
    const isDue = { reference, amount: String(amount), currency, paidAt: null };
    return db.em.fork().nativeUpdate(entity, isDue, { paidAt: new Date() });
  },
  async unpaid() {
    const since = new Date(Date.now() - 30 * 86_400_000);
    const isUnpaid = { paidAt: null, createdAt: { $gt: since } };
    const rows = await db.em.fork().find(entity, isUnpaid, { orderBy: { createdAt: 'asc' } });
    return rows.map(({ reference }) => reference);
  },
};

export const close = () => db.close();
