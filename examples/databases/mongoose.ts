import type { Orders } from '@paylink/payments';
import { createConnection, Schema } from 'mongoose';

// find returns only credits that a failover cannot roll back.
const concerns = { readConcern: { level: 'majority' }, writeConcern: { w: 'majority' } } as const;
export const db = createConnection();
// Mongoose does not retry a failed first connection.
const url = process.env['MONGODB_URL'] ?? '';
const connect = (): unknown => db.openUri(url, concerns).catch(() => setTimeout(connect, 1_000));
void connect();
const schema = new Schema({
  reference: { type: String, required: true, unique: true }, // or two orders can share a payment
  amount: { type: Number, required: true }, // in the smallest unit of the currency
  currency: { type: String, required: true },
  createdAt: { type: Date, default: Date.now },
  // Set once by the credit, and never reset: a refund has its own field.
  paidAt: { type: Date, default: null },
});
export const table = db.model('Order', schema, 'orders');

export const orders: Orders = {
  async find(reference) {
    const order = await table.findOne({ reference }).lean();
    return order && { ...order, paid: Boolean(order.paidAt) };
  },
  async credit({ reference, amount, currency }) {
    const isDue = { reference, amount, currency, paidAt: null };
    return (await table.updateOne(isDue, { paidAt: new Date() })).modifiedCount;
  },
  unpaid: () => references(null),
  paid: () => references({ $ne: null }),
};

async function references(paidAt: { $ne: null } | null): Promise<string[]> {
  const createdAt = { $gt: new Date(Date.now() - 30 * 86_400_000) };
  const rows = table.find({ paidAt, createdAt }).sort('createdAt');
  return (await rows.select('reference').lean()).map(({ reference }) => reference);
}

export const close = () => db.close();
