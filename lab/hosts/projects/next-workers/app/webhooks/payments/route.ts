import { paymentWebhook } from '@paylink/next';
import { options, payments } from '../../../lib/orders';

export const POST = paymentWebhook({ secret: process.env.WEBHOOK_SECRET, ...options }, payments);
