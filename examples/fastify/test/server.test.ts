import type { FastifyInstance } from 'fastify';
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
let server: FastifyInstance;
let url: string;

beforeAll(async () => {
  server = await createApp({ secret: TEST_SECRET, payments });
  url = `${await server.listen({ port: 0, host: '127.0.0.1' })}/webhooks/payments`;
});

afterAll(async () => {
  await server.close();
});

describe('the example on Fastify', () => {
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

  it('leaves the JSON parser to the routes beside it', async () => {
    const headers = { 'content-type': 'application/json' };
    const response = await fetch(new URL('/echo', url), {
      method: 'POST',
      headers,
      body: '{"parsed":true}',
    });
    expect(await response.json()).toEqual({ parsed: true });
  });
});
