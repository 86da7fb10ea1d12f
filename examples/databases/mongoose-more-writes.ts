import type { Orders } from '@paylink/payments';
import { Schema } from 'mongoose';
import { db, orders as plain, table } from './mongoose.js';

const wallets = db.model('Wallet', new Schema({ _id: String, balance: Number }), 'wallets');
const outbox = db.model('Outbox', new Schema({ _id: String }), 'outbox');

export const orders: Orders = {
  ...plain,
  // Needs a replica set. Runs again if another transaction writes the same documents.
  credit: ({ reference, amount, currency }) =>
    db.transaction(async (session) => {
      const isDue = { reference, amount, currency, paidAt: null };
      const update = table.findOneAndUpdate(isDue, { paidAt: new Date() }, { session });
      const order = await update.lean<{ wallet: string }>();
      if (order === null) return 0;
      const deposit = { $inc: { balance: amount } };
      await wallets.updateOne({ _id: order.wallet }, deposit, { session, upsert: true });
      await outbox.create([{ _id: `receipt ${reference}` }], { session });
      return 1;
    }),
};

export { close } from './mongoose.js';
