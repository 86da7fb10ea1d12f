import { paymentWebhook } from '@paylink/lambda';
import { options, payments } from './orders.js';

export const handler = paymentWebhook({ secret: process.env.WEBHOOK_SECRET, ...options }, payments);
