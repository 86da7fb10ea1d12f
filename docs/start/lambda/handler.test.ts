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
const { handler } = await import('./handler.ts');
const { checkout, createOrder, orders } = await import('./payments.ts');
/** Calls the function as an AWS function URL does. */
const deliver = async ({ headers, rawBody }: SignedDelivery): Promise<number> => {
  const body = rawBody.toString('base64');
  const event = {
    version: '2.0',
    requestContext: { http: { method: 'POST' } },
    headers,
    body,
    isBase64Encoded: true,
  };
  return (await handler(event)).statusCode;
};

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
