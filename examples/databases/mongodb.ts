import type { Order, Orders } from '@paylink/payments';
import { MongoClient } from 'mongodb';

interface OrderDocument extends Omit<Order, 'paid'> {
  readonly createdAt: Date;
  /** Set once by the credit, and never reset: a refund has a field of its own. */
  readonly paidAt?: Date | null;
}
export const client = new MongoClient(process.env['MONGODB_URL'] ?? '', {
  // find shows only credits that no failover takes back.
  readConcern: { level: 'majority' },
  writeConcern: { w: 'majority' },
});
// Needs a unique index on the reference, or two orders share a payment.
export const table = client.db().collection<OrderDocument>('orders');

export const orders: Orders = {
  async find(reference) {
    const order = await table.findOne({ reference });
    return order && { ...order, paid: Boolean(order.paidAt) };
  },
  async credit({ reference, amount, currency }) {
    const { modifiedCount } = await table.updateOne(
      { reference, amount, currency, paidAt: null },
      { $set: { paidAt: new Date() } },
    );
    return modifiedCount;
  },
  unpaid() {
    const since = new Date(Date.now() - 30 * 86_400_000);
    const rows = table.find({ paidAt: null, createdAt: { $gt: since } }).sort({ createdAt: 1 });
    return rows.map(({ reference }) => reference);
  },
};

export const close = () => client.close();
