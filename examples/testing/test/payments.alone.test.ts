import { createClient } from '@paylink/client';
import { startEmulator } from '@paylink/emulator';
import { paymentWebhook } from '@paylink/fetch';
import { createPayments, memoryOrders } from '@paylink/payments';
import { signedDelivery, TEST_SECRET } from '@paylink/testing';
import { afterAll, expect, test } from 'vitest';

const emulator = await startEmulator();
const paylink = createClient({ baseUrl: emulator.baseUrl, apiKey: emulator.apiKey });
const { orders, add } = memoryOrders(); // in your app: your own orders
const payments = createPayments({ client: paylink, orders });
const receive = paymentWebhook({ secret: TEST_SECRET }, payments.receive);
afterAll(() => emulator.close());

const deliver = async (reference: string): Promise<number> =>
  (await receive(signedDelivery({ reference }).toRequest('http://localhost/webhooks/payments')))
    .status;

test('credits only what the service says is paid', async () => {
  add({ reference: 'order-1', amount: 15_000, currency: 'XOF' });
  await emulator.createLink({ amount: 15_000, reference: 'order-1' });
  expect(await deliver('order-1')).toBe(503); // pending: the service sends it again later
  await emulator.pay('order-1');
  expect(await deliver('order-1')).toBe(200);
  expect(await deliver('order-1')).toBe(200); // a duplicate
  expect(await payments.settle('order-1')).toMatchObject({ status: 'paid' });
});

test('credits on the return page if the notification is late', async () => {
  add({ reference: 'order-2', amount: 15_000, currency: 'XOF' });
  await emulator.createLink({ amount: 15_000, reference: 'order-2' });
  await emulator.pay('order-2');
  expect(await payments.settle('order-2')).toMatchObject({ status: 'paid' });
  expect(await deliver('order-2')).toBe(200); // a duplicate
});
