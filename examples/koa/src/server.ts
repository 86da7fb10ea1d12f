import Router from '@koa/router';
import { memoryStore } from '@paylink/core';
import { paymentWebhook } from '@paylink/koa';
import Koa from 'koa';

export interface Options {
  readonly secret: string | undefined;
  readonly creditOrder: (reference: string) => void;
}

export function createApp({ secret, creditOrder }: Options): Koa {
  const router = new Router();

  // In production a store that lasts: this one forgets when the process ends.
  const idempotency = memoryStore();
  const handlers = { 'payment.succeeded': ({ reference }: { readonly reference: string }) => creditOrder(reference) };
  router.post('/webhooks/payments', paymentWebhook({ secret, idempotency }, handlers));

  // A body parser comes after this router: it would use up the bytes that were signed.
  const app = new Koa();
  app.use(router.routes()).use(router.allowedMethods());
  return app;
}

if (process.argv[1] === import.meta.filename) {
  const secret = process.env['WEBHOOK_SECRET'];
  const app = createApp({ secret, creditOrder: (reference) => console.log('paid:', reference) });
  app.listen(3000, () => console.log('webhook at http://localhost:3000/webhooks/payments'));
}
