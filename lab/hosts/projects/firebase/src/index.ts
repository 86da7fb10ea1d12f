import { paymentWebhook } from '@paylink/express';
import { onRequest } from 'firebase-functions/https';
import { handlers, options } from './orders.js';

// Firebase parses the body and keeps the bytes in req.rawBody.
export const payments = onRequest(
  paymentWebhook({ secret: process.env.WEBHOOK_SECRET, ...options }, handlers),
);
