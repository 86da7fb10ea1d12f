import process from 'node:process';
import { paymentWebhook } from '@paylink/fetch';
import { handlers, options } from './orders.ts';

const handle = paymentWebhook({ secret: process.env.WEBHOOK_SECRET, ...options }, handlers);

Deno.serve({ port: Number(process.env.PORT), hostname: '127.0.0.1' }, (request) => {
  const { pathname } = new URL(request.url);
  return pathname === '/webhooks/payments' ? handle(request) : new Response(null, { status: 404 });
});
