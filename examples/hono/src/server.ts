import { serve } from '@hono/node-server';
import { createClient } from '@paylink/client';
import { paymentWebhook } from '@paylink/hono';
import { createPayments, memoryOrders, type Payments } from '@paylink/payments';
import { Hono } from 'hono';

export interface Options {
  readonly secret: string | undefined;
  readonly payments: Payments;
}

export function createApp({ secret, payments }: Options): Hono {
  const app = new Hono();
  app.post('/webhooks/payments', paymentWebhook({ secret }, payments.receive));
  return app;
}

if (process.argv[1] === import.meta.filename) {
  const {
    WEBHOOK_SECRET: secret,
    PAYLINK_BASE_URL: baseUrl,
    PAYLINK_API_KEY: apiKey,
  } = process.env;
  // In production, `orders` reads and writes your own table: docs/databases.md.
  const { orders, add } = memoryOrders();
  add({ reference: 'order-42', amount: 1_500, currency: 'XOF' });
  const payments = createPayments({ client: createClient({ baseUrl, apiKey }), orders });
  const app = createApp({ secret, payments });
  serve({ fetch: app.fetch, port: 3000 }, () =>
    console.log('webhook at http://localhost:3000/webhooks/payments'),
  );
}
