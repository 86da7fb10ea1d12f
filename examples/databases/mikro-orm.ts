import { EntitySchema, MikroORM } from '@mikro-orm/postgresql';
import type { Orders } from '@paylink/payments';

interface OrderRow {
  reference: string;
  amount: string;
  currency: string;
  createdAt: Date;
  paidAt: Date | null;
}
const entity = new EntitySchema<OrderRow>({
  name: 'orders',
  properties: {
    reference: { type: 'text', primary: true },
    amount: { type: 'bigint' },
    currency: { type: 'text' },
    createdAt: { type: 'datetime' },
    paidAt: { type: 'datetime', nullable: true },
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
    const rows = await db.em
      .fork()
      .find(entity, { paidAt: null }, { orderBy: { createdAt: 'asc' } });
    return rows.map(({ reference }) => reference);
  },
};

export const close = () => db.close();
