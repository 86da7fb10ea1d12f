import type { Order, Orders } from '@paylink/payments';
import { getApps, initializeApp } from 'firebase-admin/app';
import { FieldValue, getFirestore, type Query, type Timestamp } from 'firebase-admin/firestore';

interface OrderDocument extends Pick<Order, 'amount' | 'currency'> {
  readonly createdAt: Timestamp;
  /** Set once by the credit, and never reset. Null before: queries cannot find a missing field. */
  readonly paidAt: Timestamp | null;
}
export const db = getFirestore(getApps()[0] ?? initializeApp());
// The reference is the document's id, so two orders cannot share a reference.
const table = db.collection('orders');

export const orders: Orders = {
  async find(reference) {
    const document = await table.doc(reference).get();
    const order = document.data() as OrderDocument | undefined;
    return order && { ...order, reference: document.id, paid: Boolean(order.paidAt) };
  },
  async credit({ reference, amount, currency }) {
    // Firestore runs this again if another call writes the order in the meantime.
    return db.runTransaction(async (transaction) => {
      const document = await transaction.get(table.doc(reference));
      const order = document.data() as OrderDocument | undefined;
      const isDue = order?.amount === amount && order.currency === currency && !order.paidAt;
      if (isDue) transaction.update(document.ref, { paidAt: FieldValue.serverTimestamp() });
      return isDue ? 1 : 0;
    });
  },
  unpaid: () => references(table.where('paidAt', '==', null), 'createdAt'),
  paid: () => references(table, 'paidAt'),
};

async function references(query: Query, since: 'createdAt' | 'paidAt'): Promise<string[]> {
  const lastMonth = query.where(since, '>', new Date(Date.now() - 30 * 86_400_000));
  return (await lastMonth.orderBy(since).select().get()).docs.map(({ id }) => id);
}

export const close = () => db.terminate();
