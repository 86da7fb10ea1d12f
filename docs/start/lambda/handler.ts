import { paymentWebhook } from '@paylink/lambda';
import { payments } from './payments.ts';

export const handler = paymentWebhook({ secret: process.env.WEBHOOK_SECRET }, payments.receive);
