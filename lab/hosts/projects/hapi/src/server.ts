import Hapi from '@hapi/hapi';
import { paymentWebhook } from '@paylink/node';
import { handlers, options } from './orders.js';

const webhook = paymentWebhook({ secret: process.env.WEBHOOK_SECRET, ...options }, handlers);

const server = Hapi.server({ port: Number(process.env.PORT), host: '127.0.0.1' });
server.route({
  method: '*',
  path: '/webhooks/payments',
  // hapi does not touch the body or limit it, and Paylink reads it.
  options: { payload: { parse: false, output: 'stream', maxBytes: Number.MAX_SAFE_INTEGER } },
  async handler({ raw }, h) {
    await webhook(raw.req, raw.res);
    return h.abandon;
  },
});
await server.start();
