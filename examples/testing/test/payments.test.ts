import { createClient } from '@paylink/client';
import { startEmulator } from '@paylink/emulator';
import { paymentWebhook } from '@paylink/fetch';
import { createPayments, memoryStore } from '@paylink/payments';
import { signedDelivery, TEST_SECRET } from '@paylink/testing';
import { afterAll, expect, test } from 'vitest';

const emulator = await startEmulator();
const paylink = createClient({ baseUrl: emulator.baseUrl, apiKey: emulator.apiKey });
const credited: string[] = [];
const payments = createPayments({
  client: paylink,
  store: memoryStore(),
  credit: ({ reference }) => credited.push(reference),
});
const receive = paymentWebhook({ secret: TEST_SECRET }, payments);
afterAll(() => emulator.close());

const deliver = async (reference: string): Promise<number> =>
  (await receive(signedDelivery({ reference }).toRequest('http://localhost/webhooks/payments')))
    .status;

test('credits only what the service says is paid', async () => {
  await emulator.createLink({ amount: 15_000, reference: 'order-1' });
  expect(await deliver('order-1')).toBe(503); // pending: the service sends it again later
  await emulator.pay('order-1');
  expect(await deliver('order-1')).toBe(200);
  expect(await deliver('order-1')).toBe(200); // a duplicate
  expect(credited).toEqual(['order-1']);
});

test('credits on the return page if the notification is late', async () => {
  await emulator.createLink({ amount: 15_000, reference: 'order-2' });
  await emulator.pay('order-2');
  expect(await payments.settle('order-2')).toEqual({ status: 'success', credited: true });
  expect(await deliver('order-2')).toBe(200); // a duplicate
  expect(credited).toEqual(['order-1', 'order-2']);
});
