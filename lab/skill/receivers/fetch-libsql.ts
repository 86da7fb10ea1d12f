import { paymentWebhook } from '@paylink/fetch';
import { payments } from '../payments/libsql.mjs';

export { createOrder, orders, payments } from '../payments/libsql.mjs';

export const handle = paymentWebhook({ secret: process.env['WEBHOOK_SECRET'] }, payments.receive);
