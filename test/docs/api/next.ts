import { paymentWebhook } from '@paylink/next';
import { payments } from './shop.js';

// #region paymentWebhook
// app/api/webhooks/payments/route.ts
export const POST = paymentWebhook({ secret: process.env['WEBHOOK_SECRET'] }, payments.receive);
// #endregion
