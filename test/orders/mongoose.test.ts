/**
 * Broken `orders` with Mongoose, as public handlers credit there: each is caught by the sentence
 * that names its fault. They run on a fake of mongod.
 */
import type { Order } from '@paylink/payments';
import { afterAll, expect, it } from 'vitest';
import { startFakeMongod } from '../../examples/databases/test/fake-mongodb.js';
import { faultsOf, type Broken } from './faults.js';

interface OrderDocument extends Omit<Order, 'paid'> {
  readonly paidAt?: Date | null;
}

const mongod = await startFakeMongod();
process.env['MONGODB_URL'] = mongod.url;
const { close, db, orders: right, table } = await import('../../examples/databases/mongoose.js');
await table.init();
// Mongoose leaves out what the schema does not have.
const schemaWithoutMark = table.schema.clone();
schemaWithoutMark.remove('paidAt');
const tableWithoutMark = db.model('WithoutMark', schemaWithoutMark, 'orders');
const schemaWithStatus = table.schema.clone();
schemaWithStatus.add({ status: { type: String, default: 'pending' } });
const shipped = db.model('WithStatus', schemaWithStatus, 'orders');
// A collection without a unique index.
const twins = db.collection<OrderDocument>('twins');
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

const broken: Record<string, readonly [Broken, RegExp]> = {
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
  '`findOneAndUpdate` without a condition': [
    withCredit(async ({ reference }) =>
      (await table.findOneAndUpdate({ reference }, paid())) === null ? 0 : 1,
    ),
    /^credit returned 1 for an order that was already paid/,
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
  'a constant count': [
    withCredit(async ({ reference, amount, currency }) => {
      await table.updateOne({ reference, amount, currency, paidAt: null }, paid());
      return 1;
    }),
    /^credit returned 1 for a reference that no order has.*never a constant/,
  ],
  'a mark that the schema does not have': [
    withCredit(async ({ reference, amount, currency }) => {
      const isDue = { reference, amount, currency, paidAt: null };
      return (await tableWithoutMark.updateOne(isDue, { $set: paid() })).modifiedCount ?? 0;
    }),
    /^credit changed no row for an unpaid order/,
  ],
  'an update without the amount and the currency': [
    withCredit(async ({ reference }) => {
      const { modifiedCount } = await table.updateOne({ reference, paidAt: null }, paid());
      return modifiedCount;
    }),
    /^credit returned 1 for a payment of another amount/,
  ],
  '`updateMany` without the reference': [
    withCredit(async ({ amount, currency }) => {
      const update = await table.updateMany({ amount, currency, paidAt: null }, paid());
      return update.modifiedCount;
    }),
    /^credit returned \d+, and paid another order too.*undefined field/,
  ],
  "`status: { $ne: 'paid' }`, which a shipped order fulfils": [
    {
      createOrder,
      orders: {
        async find(reference) {
          const order = await shipped.findOne({ reference }).lean<{ status?: string }>();
          const found = await right.find(reference, {} as never);
          return found && { ...found, paid: (order?.status ?? 'pending') !== 'pending' };
        },
        async credit({ reference, amount, currency }) {
          const isDue = { reference, amount, currency, status: { $ne: 'paid' } };
          return (await shipped.updateOne(isDue, { status: 'paid' })).modifiedCount;
        },
      },
      later: {
        ship: (reference) => shipped.updateOne({ reference }, { status: 'shipped' }),
      },
    },
    /^After ship, a paid order was credited again/,
  ],
  'two orders of one reference': [
    {
      createOrder: ({ reference, amount, currency }) =>
        twins.insertOne({ reference, amount, currency }),
      orders: {
        async find(reference) {
          const order = await twins.findOne({ reference });
          return order && { ...order, paid: Boolean(order.paidAt) };
        },
        async credit({ reference, amount, currency }) {
          const isDue = { reference, amount, currency, paidAt: null };
          return (await twins.updateOne(isDue, { $set: paid() })).modifiedCount;
        },
      },
    },
    /^Two orders share a reference/,
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

it.each(Object.keys(broken))(
  'names the fault of %s',
  { tags: ['P23', 'P28', 'P29', 'P30'] },
  async (name) => {
    const [options, sentence] = broken[name]!;
    expect(await faultsOf(options, sentence)).toContainEqual(expect.stringMatching(sentence));
  },
);

it('accuses no right orders', async () => {
  expect(await faultsOf({ createOrder, orders: right })).toEqual([]);
});
