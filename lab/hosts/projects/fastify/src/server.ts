import { paymentWebhook } from '@paylink/fastify';
import { fastify } from 'fastify';
import { handlers, options } from './orders.js';

const app = fastify();
app.register(
  paymentWebhook(
    { url: '/webhooks/payments', secret: process.env.WEBHOOK_SECRET, ...options },
    handlers,
  ),
);

await app.listen({ port: Number(process.env.PORT), host: '127.0.0.1' });
