import { paymentWebhook } from '@paylink/fetch';
import { handlers, options } from './orders';

const handle = paymentWebhook({ secret: process.env.WEBHOOK_SECRET, ...options }, handlers);

Bun.serve({
  port: Number(process.env.PORT),
  hostname: '127.0.0.1',
  // Passes the server, so that the reply to a slow sender can close the connection.
  routes: { '/webhooks/payments': { POST: (request, server) => handle(request, server) } },
});
