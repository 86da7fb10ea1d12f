import { paymentWebhook } from '@paylink/next';
import { payments } from '../../../../payments.ts';

export const POST = paymentWebhook({ secret: process.env.WEBHOOK_SECRET }, payments.receive);
