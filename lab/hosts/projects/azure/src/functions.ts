import { app } from '@azure/functions';
import { paymentWebhook } from '@paylink/fetch';
import { handlers, options } from './orders.js';

const handle = paymentWebhook({ secret: process.env.WEBHOOK_SECRET, ...options }, handlers);

app.http('payments', {
  route: 'webhooks/payments',
  methods: ['POST'],
  authLevel: 'anonymous',
  handler: async (request) => {
    const { status, headers, body } = await handle(request);
    return { status, headers: Object.fromEntries(headers), body };
  },
});
