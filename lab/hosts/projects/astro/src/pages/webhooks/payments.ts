import { paymentWebhook } from '@paylink/fetch';
import type { APIRoute } from 'astro';
import { handlers, options } from '../../orders';

const handle = paymentWebhook({ secret: process.env.WEBHOOK_SECRET, ...options }, handlers);

export const prerender = false;
export const POST: APIRoute = (context) => handle(context.request, context);
