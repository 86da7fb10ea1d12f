import { http } from '@google-cloud/functions-framework';
import { paymentWebhook } from '@paylink/node';
import { handlers, options } from './orders.js';

http('payments', paymentWebhook({ secret: process.env.WEBHOOK_SECRET, ...options }, handlers));
