import { memoryStore } from '@paylink/core';
import { paymentWebhook } from '@paylink/fastify';
import Fastify, { type FastifyInstance } from 'fastify';

export interface Options {
  readonly secret: string | undefined;
  readonly creditOrder: (reference: string) => void;
}

export async function createApp({ secret, creditOrder }: Options): Promise<FastifyInstance> {
  const app = Fastify();

  // In production a store that lasts: this one forgets when the process ends.
  const idempotency = memoryStore();
  const handlers = { 'payment.succeeded': ({ reference }: { readonly reference: string }) => creditOrder(reference) };
  await app.register(paymentWebhook({ url: '/webhooks/payments', secret, idempotency }, handlers));

  // Routes beside it keep Fastify's own JSON parser.
  app.post('/echo', (request) => request.body);
  return app;
}

if (process.argv[1] === import.meta.filename) {
  const secret = process.env['WEBHOOK_SECRET'];
  const app = await createApp({ secret, creditOrder: (reference) => console.log('paid:', reference) });
  console.log('webhook at', `${await app.listen({ port: 3000 })}/webhooks/payments`);
}
