import { serve } from '@hono/node-server';
import { createClient } from '@paylink/client';
import { paymentWebhook } from '@paylink/hono';
import { createPayments, memoryStore, type Payments } from '@paylink/payments';
import { Hono } from 'hono';

export interface Options {
  readonly secret: string | undefined;
  readonly payments: Payments;
}

export function createApp({ secret, payments }: Options): Hono {
  const app = new Hono();
  app.post('/webhooks/payments', paymentWebhook({ secret }, payments));
  return app;
}

if (process.argv[1] === import.meta.filename) {
  const {
    WEBHOOK_SECRET: secret,
    PAYLINK_BASE_URL: baseUrl,
    PAYLINK_API_KEY: apiKey,
  } = process.env;
  const payments = createPayments({
    client: createClient({ baseUrl, apiKey }),
    // In production a store that lasts, such as postgresStore(pool): this one forgets at a restart.
    store: memoryStore(),
    // Stands for the UPDATE of the order, and returns the number of rows that it changed.
    credit({ reference }) {
      console.log('paid:', reference);
      return 1;
    },
  });
  const app = createApp({ secret, payments });
  serve({ fetch: app.fetch, port: 3000 }, () =>
    console.log('webhook at http://localhost:3000/webhooks/payments'),
  );
}
