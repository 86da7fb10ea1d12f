import { Router } from '@aws-lambda-powertools/event-handler/http';
import { paymentWebhook, type LambdaEvent } from '@paylink/lambda';
import type { Context } from 'aws-lambda';
import { handlers, options } from './orders.js';

const webhook = paymentWebhook({ secret: process.env.WEBHOOK_SECRET, ...options }, handlers);

const app = new Router();
app.post('/webhooks/payments', ({ event, context }) => webhook(event as LambdaEvent, context));

export const handler = (event: unknown, context: Context) => app.resolve(event, context);
