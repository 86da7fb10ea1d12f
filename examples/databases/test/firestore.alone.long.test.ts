import { afterAll, expect, it } from 'vitest';
import { startFakeFirestore } from './fake-firestore.js';
import { testRecipe, testVariant, type RecipeOptions } from './suite.js';

// With FIRESTORE_EMULATOR_HOST these tests run on your emulator.
const fake =
  process.env['FIRESTORE_EMULATOR_HOST'] === undefined ? await startFakeFirestore() : undefined;
process.env['FIRESTORE_EMULATOR_HOST'] ??= fake!.host;
process.env['GCLOUD_PROJECT'] ??= 'shop';
afterAll(() => fake?.close());

const recipe = await import('../firestore.js');
const table = recipe.db.collection('orders');

const options: RecipeOptions = {
  createOrder: ({ reference, amount, currency }) =>
    table
      .doc(reference)
      .create({ amount, currency, createdAt: new Date(), paidAt: null, wallet: 'ada' }),
  later: {
    edit: (reference) => table.doc(reference).update({ createdAt: new Date() }),
    refund: (reference) => table.doc(reference).update({ refundedAt: new Date() }),
  },
};
testRecipe('Firestore', recipe, options);

const { orders: moreWrites } = await import('../firestore-more-writes.js');
const receipt = (reference: string) => recipe.db.doc(`outbox/receipt ${reference}`);
testVariant('Firestore with more writes', moreWrites, {
  ...options,
  effects: async (reference) => Number((await receipt(reference).get()).exists),
  total: async () => ((await recipe.db.doc('wallets/ada').get()).get('balance') as number) ?? 0,
});

it('Firestore leaves no mark if a further write fails', async () => {
  const { signal } = new AbortController();
  const reference = 'half';
  const payment = { reference, amount: 1, currency: 'XOF' };
  await options.createOrder({ ...payment, tenant: null });
  await receipt(reference).create({});
  const context = { tenant: null, signal, source: 'webhook' as const };
  const crediting = Promise.resolve(moreWrites.credit(payment, context));
  await expect(crediting).rejects.toThrow(/exists/);
  expect((await table.doc(reference).get()).get('paidAt')).toBeNull();
});
