import { paymentWebhook } from '@paylink/next';
import { payments } from './payments';

const secret = process.env['WEBHOOK_SECRET'];

export const POST = paymentWebhook({ secret }, payments.receive);
