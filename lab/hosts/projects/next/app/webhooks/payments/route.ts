import { paymentWebhook } from '@paylink/next';
import { handlers, options } from '../../../lib/orders';

export const POST = paymentWebhook({ secret: process.env.WEBHOOK_SECRET, ...options }, handlers);
