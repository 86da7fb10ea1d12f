import type { Orders } from '@paylink/payments';
import { FieldValue } from 'firebase-admin/firestore';
import { db, orders as plain } from './firestore.js';

export const orders: Orders = {
  ...plain,
  credit: ({ reference, amount, currency }) =>
    // Firestore runs this again if another call writes the order in the meantime.
    db.runTransaction(async (transaction) => {
      const order = await transaction.get(db.collection('orders').doc(reference));
      const isDue = order.get('amount') === amount && order.get('currency') === currency;
      if (!isDue || order.get('paidAt')) return 0;
      const wallet = db.collection('wallets').doc(order.get('wallet') as string);
      const receipt = db.collection('outbox').doc(`receipt ${reference}`);
      transaction.update(order.ref, { paidAt: FieldValue.serverTimestamp() });
      transaction.set(wallet, { balance: FieldValue.increment(amount) }, { merge: true });
      transaction.create(receipt, {});
      return 1;
    }),
};

export { close } from './firestore.js';
