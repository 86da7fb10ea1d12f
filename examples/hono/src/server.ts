import { serve } from '@hono/node-server';
import { memoryStore } from '@paylink/core';
import { paymentWebhook } from '@paylink/hono';
import { Hono } from 'hono';

export interface Options {
  readonly secret: string | undefined;
  readonly creditOrder: (reference: string) => void;
}

export function createApp({ secret, creditOrder }: Options): Hono {
  // In production a store that lasts: this one forgets when the process ends.
  const idempotency = memoryStore();
  const handlers = { 'payment.succeeded': ({ reference }: { readonly reference: string }) => creditOrder(reference) };
  const webhook = paymentWebhook({ secret, idempotency }, handlers);

  const app = new Hono();
  app.post('/webhooks/payments', webhook);
  return app;
}

if (process.argv[1] === import.meta.filename) {
  const secret = process.env['WEBHOOK_SECRET'];
  const app = createApp({ secret, creditOrder: (reference) => console.log('paid:', reference) });
  serve({ fetch: app.fetch, port: 3000 }, () => console.log('webhook at http://localhost:3000/webhooks/payments'));
}
