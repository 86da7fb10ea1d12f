import { createClient } from '@paylink/client';
import { paymentWebhook } from '@paylink/fastify';
import { createPayments, memoryStore, type Payments } from '@paylink/payments';
import Fastify, { type FastifyInstance } from 'fastify';

export interface Options {
  readonly secret: string | undefined;
  readonly payments: Payments;
}

export async function createApp({ secret, payments }: Options): Promise<FastifyInstance> {
  const app = Fastify();

  await app.register(paymentWebhook({ url: '/webhooks/payments', secret }, payments));

  // Routes beside it keep Fastify's own JSON parser.
  app.post('/echo', (request) => request.body);
  return app;
}

if (process.argv[1] === import.meta.filename) {
  const {
    WEBHOOK_SECRET: secret,
    PAYLINK_BASE_URL: baseUrl,
    PAYLINK_API_KEY: apiKey,
  } = process.env;
  const payments = createPayments({
    client: createClient({ baseUrl, apiKey }),
    // In production a store that lasts, such as postgresStore(pool): this one forgets at a restart.
    store: memoryStore(),
    // Stands for the UPDATE of the order, and returns the number of rows that it changed.
    credit({ reference }) {
      console.log('paid:', reference);
      return 1;
    },
  });
  const app = await createApp({ secret, payments });
  console.log('webhook at', `${await app.listen({ port: 3000 })}/webhooks/payments`);
}
