import { paymentWebhook } from '@paylink/fetch';
import { handlers, options } from '../../../orders.js';
import type { RequestHandler } from './$types';

const handle = paymentWebhook({ secret: process.env.WEBHOOK_SECRET, ...options }, handlers);

export const POST: RequestHandler = (event) => handle(event.request, event);
