import { createClient } from '@paylink/client';
import { memoryStore } from '@paylink/core';
import { startEmulator } from '@paylink/emulator';
import { paymentWebhook } from '@paylink/fetch';
import { signedDelivery, TEST_SECRET } from '@paylink/testing';
import { afterAll, expect, test } from 'vitest';

const emulator = await startEmulator({ port: false });
const paylink = createClient({
  baseUrl: emulator.baseUrl,
  apiKey: emulator.apiKey,
  fetch: (url, init) => emulator.fetch(new Request(url, init)),
});
const credited: string[] = [];
const receive = paymentWebhook(
  { secret: TEST_SECRET, confirm: paylink, idempotency: memoryStore() },
  { 'payment.succeeded': async (_event, { payment }) => void credited.push(payment.reference) },
);
afterAll(() => emulator.close());

const deliver = async (reference: string): Promise<number> =>
  (await receive(signedDelivery({ reference }).toRequest('http://localhost/webhooks/payments'))).status;

test('credits only what the service says is paid', async () => {
  await emulator.createLink({ amount: 15_000, reference: 'order-1' });
  expect(await deliver('order-1')).toBe(503); // pending: asked again later
  await emulator.pay('order-1');
  expect(await deliver('order-1')).toBe(200);
  expect(await deliver('order-1')).toBe(200); // a duplicate
  expect(credited).toEqual(['order-1']);
});
