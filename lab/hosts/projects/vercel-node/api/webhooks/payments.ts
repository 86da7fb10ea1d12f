import { paymentWebhook } from '@paylink/node';
import { handlers, options } from '../../lib/orders.js';

export default paymentWebhook({ secret: process.env.WEBHOOK_SECRET, ...options }, handlers);
