import { paymentWebhook } from '@paylink/fastify';
import { fastify } from 'fastify';
import { payments } from './shop.js';

const app = fastify();
const secret = process.env['WEBHOOK_SECRET'];

// #region paymentWebhook
app.register(paymentWebhook({ url: '/webhooks/payments', secret }, payments.receive));
// #endregion
