import { paymentWebhook } from '@paylink/fetch';
import { handlers, options } from '../../lib/orders.js';

export const POST = paymentWebhook({ secret: process.env.WEBHOOK_SECRET, ...options }, handlers);
