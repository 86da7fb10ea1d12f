import { paymentWebhook } from '@paylink/lambda';
import { payments } from '../payments/pg.js';

export { createOrder, orders, payments } from '../payments/pg.js';

export const handler = paymentWebhook({ secret: process.env['WEBHOOK_SECRET'] }, payments.receive);
