import { paymentWebhookApi } from '@paylink/next/pages';
import { payments } from './shop.js';

// #region paymentWebhookApi
// pages/api/webhooks/payments.ts
export const config = { api: { bodyParser: false } };
export default paymentWebhookApi({ secret: process.env['WEBHOOK_SECRET'] }, payments.receive);
// #endregion
