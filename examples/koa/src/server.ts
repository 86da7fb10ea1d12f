import Router from '@koa/router';
import { createClient } from '@paylink/client';
import { paymentWebhook } from '@paylink/koa';
import { createPayments, memoryOrders, type Payments } from '@paylink/payments';
import Koa from 'koa';

export interface Options {
  readonly secret: string | undefined;
  readonly payments: Payments;
}

export function createApp({ secret, payments }: Options): Koa {
  const router = new Router();

  router.post('/webhooks/payments', paymentWebhook({ secret }, payments.receive));

  // Add a body parser only after this router, because a parser consumes the signed bytes.
  const app = new Koa();
  app.use(router.routes()).use(router.allowedMethods());
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
  app.listen(3000, () => console.log('webhook at http://localhost:3000/webhooks/payments'));
}
