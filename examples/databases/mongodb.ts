import type { Order, Orders } from '@paylink/payments';
import { MongoClient } from 'mongodb';

interface OrderDocument extends Omit<Order, 'paid'> {
  readonly createdAt: Date;
  /** Set once by the credit, and never reset: a refund has its own field. */
  readonly paidAt?: Date | null;
}
export const client = new MongoClient(process.env['MONGODB_URL'] ?? '', {
  // find returns only credits that a failover cannot roll back.
  readConcern: { level: 'majority' },
  writeConcern: { w: 'majority' },
});
// Needs a unique index on the reference, or two orders can share a payment. Connects first,
// because the driver does not retry a failed first connection.
export const table = async () => (await client.connect()).db().collection<OrderDocument>('orders');

export const orders: Orders = {
  async find(reference) {
    const order = await (await table()).findOne({ reference });
    return order && { ...order, paid: Boolean(order.paidAt) };
  },
  async credit({ reference, amount, currency }) {
    const isDue = { reference, amount, currency, paidAt: null };
    const set = { $set: { paidAt: new Date() } };
    return (await (await table()).updateOne(isDue, set)).modifiedCount;
  },
  unpaid: () => references(null),
  paid: () => references({ $ne: null }),
};

async function references(paidAt: { $ne: null } | null): Promise<string[]> {
  const since = new Date(Date.now() - 30 * 86_400_000);
  const rows = (await table()).find({ paidAt, createdAt: { $gt: since } });
  return (await rows.sort({ createdAt: 1 }).toArray()).map(({ reference }) => reference);
}

export const close = () => client.close();
