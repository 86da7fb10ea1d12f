import { paymentWebhook } from '@paylink/fetch';
import type { APIRoute } from 'astro';
import { options, payments } from '../../orders';

const handle = paymentWebhook({ secret: process.env.WEBHOOK_SECRET, ...options }, payments);

export const prerender = false;
export const POST: APIRoute = (context) => handle(context.request, context);
