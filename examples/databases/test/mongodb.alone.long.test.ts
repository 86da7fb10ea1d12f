import type { Order } from '@paylink/payments';
import { MongoClient } from 'mongodb';
import { afterAll, expect, it, vi } from 'vitest';
import { freePort } from '../../../test/servers/starting.js';
import { startFakeMongod } from './fake-mongodb.js';
import { testRecipe, type Recipe, type RecipeOptions } from './suite.js';

interface OrderDocument extends Omit<Order, 'paid'> {
  readonly createdAt: Date;
  readonly paidAt?: Date;
  readonly refundedAt?: Date;
  readonly wallet: string;
}

// With MONGODB_URL these tests run on your replica set, and empty its collections `orders`,
// `outbox` and `wallets`.
const fake = process.env['MONGODB_URL'] === undefined ? await startFakeMongod() : undefined;
process.env['MONGODB_URL'] ??= fake!.url;
const merchant = new MongoClient(process.env['MONGODB_URL']);
const table = merchant.db().collection<OrderDocument>('orders');
const outbox = merchant.db().collection<{ readonly _id: string }>('outbox');
const wallets = merchant.db().collection<{ readonly _id: string; balance: number }>('wallets');
if (fake === undefined) for (const each of [table, outbox, wallets]) await each.drop();
await table.createIndexes([{ key: { reference: 1 }, unique: true }]);
afterAll(async () => {
  await merchant.close();
  await fake?.close();
});

const options: RecipeOptions = {
  // Without `paidAt`, as in a shop that had orders before.
  createOrder: ({ reference, amount, currency }) =>
    table.insertOne({ reference, amount, currency, createdAt: new Date(), wallet: 'ada' }),
  async elsewhere(reference) {
    const order = await table.findOne({ reference });
    return order && { ...order, paid: order.paidAt instanceof Date };
  },
  later: {
    edit: (reference) => table.updateOne({ reference }, { $set: { createdAt: new Date() } }),
    refund: (reference) => table.updateOne({ reference }, { $set: { refundedAt: new Date() } }),
  },
};

testRecipe('the driver of MongoDB', await import('../mongodb.js'), options);
testRecipe('Mongoose', await import('../mongoose.js'), options);

it.each(['mongodb', 'mongoose'])(
  'reads again through the recipe %s after mongod was away, also at the start',
  async (name) => {
    const port = await freePort();
    vi.stubEnv('MONGODB_URL', `mongodb://127.0.0.1:${port}/shop?serverSelectionTimeoutMS=300`);
    vi.resetModules();
    const { orders, close } = (await import(`../${name}.ts`)) as Recipe;
    const find = async (): Promise<unknown> =>
      orders.find('unknown', { tenant: null, signal: new AbortController().signal });
    const first = find().catch((error: unknown) => error);
    const late = await startFakeMongod(port);
    await first;
    await expect.poll(() => find().catch((error: unknown) => error)).toBeNull();
    await late.close();
    await expect(find()).rejects.toThrow(/ECONNREFUSED|closed/);
    const again = await startFakeMongod(port);
    await expect.poll(() => find().catch((error: unknown) => error)).toBeNull();
    await close();
    await again.close();
  },
);
