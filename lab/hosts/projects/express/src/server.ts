import { paymentWebhook } from '@paylink/express';
import express from 'express';
import { handlers, options } from './orders.js';

const app = express();
app.post(
  '/webhooks/payments',
  paymentWebhook({ secret: process.env.WEBHOOK_SECRET, ...options }, handlers),
);
// Keep the parser below the webhook. A parser above it would consume the signed bytes.
app.use(express.json());

app.listen(Number(process.env.PORT), '127.0.0.1');
