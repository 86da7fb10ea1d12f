import { Router } from '@aws-lambda-powertools/event-handler/http';
import { paymentWebhook } from '@paylink/fetch';
import type { Context } from 'aws-lambda';
import { handlers, options } from './orders.js';

const handle = paymentWebhook({ secret: process.env.WEBHOOK_SECRET, ...options }, handlers);

const app = new Router();
app.post('/webhooks/payments', ({ req }) => handle(req));

export const handler = (event: unknown, context: Context) => app.resolve(event, context);
