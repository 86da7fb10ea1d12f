import { paymentWebhook } from '@paylink/fetch';
import { options, payments } from '../../../orders.js';
import type { RequestHandler } from './$types';

const handle = paymentWebhook({ secret: process.env.WEBHOOK_SECRET, ...options }, payments);

export const POST: RequestHandler = (event) => handle(event.request, event);
