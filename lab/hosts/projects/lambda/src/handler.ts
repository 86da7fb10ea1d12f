import { paymentWebhook } from '@paylink/lambda';
import { handlers, options } from './orders.js';

export const handler = paymentWebhook({ secret: process.env.WEBHOOK_SECRET, ...options }, handlers);
