import { paymentGate, paymentWebhook, webhookEvent } from '@paylink/express';
import express from 'express';
import { orders, payments } from './shop.js';

const app = express();
const secret = process.env['WEBHOOK_SECRET'];

// #region paymentWebhook
app.post('/webhooks/payments', paymentWebhook({ secret }, payments.receive));
// #endregion

// #region paymentGate
app.post('/webhooks/payments', paymentGate({ secret }), async (req, res) => {
  const { reference } = webhookEvent(req);
  res.sendStatus((await orders.find(reference)) === undefined ? 503 : 200);
});
// #endregion

// #region webhookEvent
app.post('/webhooks/audit', paymentGate({ secret }), (req, res) => {
  const event = webhookEvent(req); // throws if no gate has verified this request
  console.log(event.type, event.reference);
  res.sendStatus(200);
});
// #endregion
