import { paymentWebhook } from '@paylink/next';
import { payments } from '../payments/pg.js';

export { createOrder, orders, payments } from '../payments/pg.js';

export const POST = paymentWebhook({ secret: process.env['WEBHOOK_SECRET'] }, payments.receive);
