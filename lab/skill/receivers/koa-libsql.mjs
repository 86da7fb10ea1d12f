import Koa from 'koa';
import { paymentWebhook } from '@paylink/koa';
import { payments } from '../payments/libsql.mjs';

export { createOrder, orders, payments } from '../payments/libsql.mjs';

const app = new Koa();
const webhook = paymentWebhook({ secret: process.env.WEBHOOK_SECRET }, payments.receive);
app.use((ctx, next) => (ctx.path === '/webhooks/payments' ? webhook(ctx, next) : next()));
app.use(async (ctx, next) => {
  const [, reference] = /^\/orders\/([^/]+)$/.exec(ctx.path) ?? [];
  if (reference === undefined) return next();
  ctx.body = { status: (await payments.settle(reference)).status };
});
// The tests import this file too, without a port.
if (process.env.PORT) app.listen(Number(process.env.PORT));
