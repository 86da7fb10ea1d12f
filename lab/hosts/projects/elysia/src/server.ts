import { paymentWebhook } from '@paylink/fetch';
import { Elysia } from 'elysia';
import { handlers, options } from './orders';

const handle = paymentWebhook({ secret: process.env.WEBHOOK_SECRET, ...options }, handlers);

new Elysia()
  // Otherwise Elysia replies with the message of the error that your code threw.
  .onError(({ code }) => (code === 'UNKNOWN' ? new Response(null, { status: 500 }) : undefined))
  // Without `parse: 'none'`, Elysia reads the body first, and the signed bytes are lost.
  .post('/webhooks/payments', ({ request, server }) => handle(request, server), { parse: 'none' })
  .listen({ port: Number(process.env.PORT), hostname: '127.0.0.1' });
