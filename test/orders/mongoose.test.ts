/**
 * Broken `orders` with Mongoose, as public handlers credit there: each is caught by the sentence
 * that names its fault. They run on a fake of mongod.
 */
import { afterAll } from 'vitest';
import { startFakeMongod } from '../../examples/databases/test/fake-mongodb.js';
import { testFaults, type Broken, type Designs } from './faults.js';

const mongod = await startFakeMongod();
process.env['MONGODB_URL'] = mongod.url;
const { close, db, orders: right, table } = await import('../../examples/databases/mongoose.js');
await table.init();
// Mongoose leaves out what the schema does not have.
const schemaWithoutMark = table.schema.clone();
schemaWithoutMark.remove('paidAt');
const tableWithoutMark = db.model('WithoutMark', schemaWithoutMark, 'orders');
afterAll(async () => {
  await close();
  await mongod.close();
});

type Credit = Broken['orders']['credit'];

const createOrder: Broken['createOrder'] = ({ reference, amount, currency }) =>
  table.create({ reference, amount, currency });
const withCredit = (credit: Credit): Broken => ({
  createOrder,
  orders: { find: right.find, credit },
});
const paid = () => ({ paidAt: new Date() });

const broken: Designs = {
  '`findOne`, then `save`': [
    withCredit(async ({ reference, amount, currency }) => {
      const order = await table.findOne({ reference, amount, currency });
      if (order?.paidAt !== null) return 0;
      order.paidAt = new Date();
      await order.save();
      return 1;
    }),
    /^\d+ of 20 simultaneous calls credited the same order/,
  ],
  '`findOneAndUpdate` with `upsert`': [
    withCredit(async ({ reference, amount, currency }) => {
      const options = { upsert: true, new: true };
      return (await table.findOneAndUpdate({ reference, amount, currency }, paid(), options))
        ? 1
        : 0;
    }),
    /^credit made an order for a reference that no order has/,
  ],
  '`matchedCount` without a condition': [
    withCredit(async ({ reference, amount, currency }) => {
      const update = await table.updateOne({ reference, amount, currency }, paid());
      return update.matchedCount;
    }),
    /^credit returned 1 for an order that was already paid/,
  ],
  'an update that is never sent, because nothing awaits it': [
    withCredit(({ reference, amount, currency }) => {
      void table.updateOne({ reference, amount, currency, paidAt: null }, paid());
      return 1;
    }),
    /^credit returned 1, but find reports the order as unpaid.*missing await/,
  ],
  'a mark that the schema does not have': [
    withCredit(async ({ reference, amount, currency }) => {
      const isDue = { reference, amount, currency, paidAt: null };
      return (await tableWithoutMark.updateOne(isDue, { $set: paid() })).modifiedCount ?? 0;
    }),
    /^credit changed no row for an unpaid order/,
  ],
  'an error that is ignored': [
    withCredit(async ({ reference }) => {
      const isDue = { reference, paidAt: null };
      const update = table.updateOne(isDue, { paidAt: 'today' });
      return update.then(
        ({ modifiedCount }) => modifiedCount,
        () => 0,
      );
    }),
    /^credit changed no row for an unpaid order.*an error that is ignored/,
  ],
};

testFaults(broken, { tags: 'P30' });
