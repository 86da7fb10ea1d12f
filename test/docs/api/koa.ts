import Router from '@koa/router';
import { paymentGate, paymentWebhook, webhookEvent } from '@paylink/koa';
import { payments } from './shop.js';

const router = new Router();
const secret = process.env['WEBHOOK_SECRET'];

// #region paymentWebhook
router.post('/webhooks/payments', paymentWebhook({ secret }, payments.receive));
// #endregion

// #region paymentGate
router.post('/webhooks/payments', paymentGate({ secret }), async (ctx) => {
  await payments.receive(webhookEvent(ctx));
  ctx.status = 200;
});
// #endregion

// #region webhookEvent
router.post('/webhooks/audit', paymentGate({ secret }), (ctx) => {
  const event = webhookEvent(ctx); // throws if no gate has verified this request
  console.log(event.type, event.reference);
  ctx.status = 200;
});
// #endregion
