import Router from '@koa/router';
import { paymentWebhook } from '@paylink/koa';
import Koa from 'koa';
import { checkout, payments } from './payments.ts';

const router = new Router();

router.post(
  '/webhooks/payments',
  paymentWebhook({ secret: process.env.WEBHOOK_SECRET }, payments.receive),
);

router.post('/orders', async (ctx) => {
  ctx.status = 201;
  ctx.body = await checkout(15_000);
});

router.get('/orders/:reference', async (ctx) => {
  const { status } = await payments.settle(ctx.params['reference']!);
  ctx.body = { status };
});

export const app = new Koa();
// Add body parsers below this line only: the signature covers the raw bytes.
app.use(router.routes());
