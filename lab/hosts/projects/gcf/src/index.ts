import { http } from '@google-cloud/functions-framework';
import { paymentWebhook } from '@paylink/node';
import { options, payments } from './orders.js';

http('payments', paymentWebhook({ secret: process.env.WEBHOOK_SECRET, ...options }, payments));
