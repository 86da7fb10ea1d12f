import { paymentWebhook } from '@paylink/fetch';
import { defineEventHandler, toWebRequest } from 'h3';
import { options, payments } from '../../lib/orders';

const handle = paymentWebhook({ secret: process.env.WEBHOOK_SECRET, ...options }, payments);

export default defineEventHandler((event) => handle(toWebRequest(event), { event }));
