import { serve } from '@hono/node-server';
import { paymentWebhook } from '@paylink/hono';
import { Hono } from 'hono';
import { handlers, options } from './orders.js';

const app = new Hono();
app.post(
  '/webhooks/payments',
  paymentWebhook({ secret: process.env.WEBHOOK_SECRET, ...options }, handlers),
);

serve({ fetch: app.fetch, port: Number(process.env.PORT), hostname: '127.0.0.1' });
