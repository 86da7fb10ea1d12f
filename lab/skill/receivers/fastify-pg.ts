import Fastify from 'fastify';
import { paymentWebhook } from '@paylink/fastify';
import { payments } from '../payments/pg.js';

export { createOrder, orders, payments } from '../payments/pg.js';

const app = Fastify();
app.register(
  paymentWebhook(
    { url: '/webhooks/payments', secret: process.env['WEBHOOK_SECRET'] },
    payments.receive,
  ),
);
app.get<{ Params: { reference: string } }>('/orders/:reference', async (request) => ({
  status: (await payments.settle(request.params.reference)).status,
}));
// The tests import this file too, without a port.
if (process.env['PORT']) await app.listen({ port: Number(process.env['PORT']) });
