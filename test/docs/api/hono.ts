import { paymentGate, paymentWebhook, webhookEvent } from '@paylink/hono';
import { Hono } from 'hono';
import { payments } from './shop.js';

const app = new Hono();
const secret = process.env['WEBHOOK_SECRET'];

// #region paymentWebhook
app.post('/webhooks/payments', paymentWebhook({ secret }, payments.receive));
// #endregion

// #region paymentGate
app.post('/webhooks/payments', paymentGate({ secret }), async (c) => {
  await payments.receive(webhookEvent(c));
  return c.body(null, 200);
});
// #endregion

// #region webhookEvent
app.post('/webhooks/audit', paymentGate({ secret }), (c) => {
  const event = webhookEvent(c); // throws if no gate has verified this request
  return c.text(event.reference);
});
// #endregion
