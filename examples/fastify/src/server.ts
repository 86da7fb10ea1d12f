import { createClient } from '@paylink/client';
import { paymentWebhook } from '@paylink/fastify';
import { createPayments, memoryOrders, type Payments } from '@paylink/payments';
import Fastify, { type FastifyInstance } from 'fastify';

export interface Options {
  readonly secret: string | undefined;
  readonly payments: Payments;
}

export async function createApp({ secret, payments }: Options): Promise<FastifyInstance> {
  const app = Fastify();

  await app.register(paymentWebhook({ url: '/webhooks/payments', secret }, payments.receive));

  // Your other routes keep Fastify's own JSON parser.
  app.post('/echo', (request) => request.body);
  return app;
}

if (process.argv[1] === import.meta.filename) {
  const {
    WEBHOOK_SECRET: secret,
    PAYLINK_BASE_URL: baseUrl,
    PAYLINK_API_KEY: apiKey,
  } = process.env;
  // In production, `orders` reads and writes your own table: docs/databases.md.
  const { orders, add } = memoryOrders();
  add({ reference: 'order-42', amount: 1_500, currency: 'XOF' });
  const payments = createPayments({ client: createClient({ baseUrl, apiKey }), orders });
  const app = await createApp({ secret, payments });
  console.log('webhook at', `${await app.listen({ port: 3000 })}/webhooks/payments`);
}
