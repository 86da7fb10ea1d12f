import Router from '@koa/router';
import { paymentWebhook } from '@paylink/koa';
import Koa from 'koa';
import { handlers, options } from './orders.js';

const router = new Router();
router.post(
  '/webhooks/payments',
  paymentWebhook({ secret: process.env.WEBHOOK_SECRET, ...options }, handlers),
);

const app = new Koa();
app.use(router.routes());
app.listen(Number(process.env.PORT), '127.0.0.1');
