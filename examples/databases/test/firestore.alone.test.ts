import { afterAll } from 'vitest';
import { startFakeFirestore } from './fake-firestore.js';
import { testRecipe } from './suite.js';

// With FIRESTORE_EMULATOR_HOST these tests run on your emulator.
const fake =
  process.env['FIRESTORE_EMULATOR_HOST'] === undefined ? await startFakeFirestore() : undefined;
process.env['FIRESTORE_EMULATOR_HOST'] ??= fake!.host;
process.env['GCLOUD_PROJECT'] ??= 'shop';
afterAll(() => fake?.close());

const recipe = await import('../firestore.js');
const table = recipe.db.collection('orders');

testRecipe('Firestore', recipe, {
  createOrder: ({ reference, amount, currency }) =>
    table.doc(reference).create({ amount, currency, createdAt: new Date(), paidAt: null }),
  later: {
    edit: (reference) => table.doc(reference).update({ createdAt: new Date() }),
    refund: (reference) => table.doc(reference).update({ refundedAt: new Date() }),
  },
});
