import type { Config } from '@netlify/functions';
import { paymentWebhook } from '@paylink/fetch';
import { handlers, options } from '../../lib/orders.js';

export default paymentWebhook({ secret: process.env.WEBHOOK_SECRET, ...options }, handlers);

export const config: Config = { path: '/webhooks/payments' };
