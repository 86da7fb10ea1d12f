import { paymentWebhook } from '@paylink/express';
import { onRequest } from 'firebase-functions/https';
import { handlers, options } from './orders.js';

// The Firebase CLI loads this file at deployment, without the secret.
const secret = () => ({ secret: process.env.WEBHOOK_SECRET, tenant: null });

// Firebase parses the body and keeps the bytes in req.rawBody.
export const payments = onRequest(
  { secrets: ['WEBHOOK_SECRET'] },
  paymentWebhook({ secret, ...options }, handlers),
);
