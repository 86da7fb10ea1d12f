import { paymentWebhook } from '@paylink/fetch';
import { defineEventHandler, toWebRequest } from 'h3';
import { handlers, options } from '../../lib/orders';

const handle = paymentWebhook({ secret: process.env.WEBHOOK_SECRET, ...options }, handlers);

export default defineEventHandler((event) => handle(toWebRequest(event), { event }));
