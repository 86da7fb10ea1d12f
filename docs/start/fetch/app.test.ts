import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { startEmulator } from '@paylink/emulator';
import { signedDelivery, testOrders, TEST_SECRET, type SignedDelivery } from '@paylink/testing';

// The app reads its settings when it is imported, so set them first.
const emulator = await startEmulator();
process.env.DATABASE_FILE = ':memory:';
process.env.PAYLINK_BASE_URL = emulator.baseUrl;
process.env.PAYLINK_API_KEY = emulator.apiKey;
process.env.WEBHOOK_SECRET = TEST_SECRET;
const { app } = await import('./app.ts');
const { checkout, createOrder, orders } = await import('./payments.ts');
const deliver = async (delivery: SignedDelivery): Promise<number> =>
  (await app(delivery.toRequest('http://localhost/webhooks/payments'))).status;

after(async () => {
  await emulator.close();
});

test('credits a paid order once, and refuses a forged notification', async () => {
  const { reference } = await checkout(15_000);
  assert.equal(await deliver(signedDelivery({ reference })), 503); // Not paid yet.
  await emulator.pay(reference);
  assert.equal(await deliver(signedDelivery({ reference, secret: 'not the secret' })), 401);
  assert.equal(await deliver(signedDelivery({ reference })), 200);
  assert.equal(await deliver(signedDelivery({ reference })), 200); // A duplicate.
});

testOrders({ orders, createOrder, test });
