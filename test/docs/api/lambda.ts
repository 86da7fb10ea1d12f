import { paymentWebhook } from '@paylink/lambda';
import { payments } from './shop.js';

const secret = process.env['WEBHOOK_SECRET'];

// #region paymentWebhook
export const handler = paymentWebhook({ secret }, payments.receive);
// #endregion
