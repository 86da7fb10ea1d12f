import { paymentWebhook } from '@paylink/express';
import express from 'express';
import serverless from 'serverless-http';
import { handlers, options } from './orders.js';

const app = express();
app.post(
  '/webhooks/payments',
  paymentWebhook({ secret: process.env.WEBHOOK_SECRET, ...options }, handlers),
);
app.use(express.json());

export const handler = serverless(app);
