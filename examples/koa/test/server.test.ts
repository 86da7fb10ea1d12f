import { once } from 'node:events';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createPayments, memoryOrders } from '@paylink/payments';
import { signedDelivery, TEST_SECRET } from '@paylink/testing';
import { createApp } from '../src/server.js';

const { orders, add } = memoryOrders();
const payments = createPayments({
  // The service: every payment succeeded.
  client: {
    getPayment: async (reference: string) => ({
      ...{ reference, amount: 1_500, currency: 'XOF', status: 'success' },
    }),
  },
  orders,
});
const isPaid = async (reference: string) =>
  (await payments.explain(reference)).order?.paid === true;
for (const reference of ['order-42', 'order-43']) {
  add({ reference, amount: 1_500, currency: 'XOF' });
}
let server: Server;
let url: string;

beforeAll(async () => {
  server = createApp({ secret: TEST_SECRET, payments }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/webhooks/payments`;
});

afterAll(async () => {
  server.close();
  await once(server, 'close');
});

describe('the example on Koa', () => {
  it('credits a genuine delivery once, however often it comes', async () => {
    const delivery = signedDelivery({ secret: TEST_SECRET, reference: 'order-42' });
    for (let time = 0; time < 3; time++) {
      const response = await delivery.send(url);
      expect(response.status).toBe(200);
      expect(await response.json()).toEqual({ received: true });
    }
    expect(await isPaid('order-42')).toBe(true);
  });

  it('refuses a forged delivery', async () => {
    const response = await signedDelivery({
      secret: 'a-secret-of-nobody',
      reference: 'order-43',
    }).send(url);
    expect(response.status).toBe(401);
    expect(await response.json()).toEqual({ error: 'invalid_signature' });
    expect(await isPaid('order-43')).toBe(false);
  });
});
