import { paymentWebhookApi } from '@paylink/next/pages';
import { payments } from './payments';

const secret = process.env['WEBHOOK_SECRET'];

export const webhook = paymentWebhookApi({ secret }, payments.receive);
