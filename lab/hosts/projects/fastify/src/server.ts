import { paymentWebhook } from '@paylink/fastify';
import { fastify } from 'fastify';
import { options, payments } from './orders.js';

const app = fastify();
app.register(
  paymentWebhook(
    { url: '/webhooks/payments', secret: process.env.WEBHOOK_SECRET, ...options },
    payments,
  ),
);

await app.listen({ port: Number(process.env.PORT), host: '127.0.0.1' });
