import { paymentWebhook } from '@paylink/fastify';
import fastify from 'fastify';
import { checkout, payments } from './payments.ts';

export const app = fastify();

// Fastify sends an error's message to the customer. Log your server's faults, and hide them.
app.setErrorHandler((error: { statusCode?: number }, _request, reply) => {
  if (error.statusCode !== undefined && error.statusCode < 500) return reply.send(error);
  console.error(error);
  return reply.code(500).send({ error: 'Please try again later.' });
});

// An encapsulated plugin: your other routes keep their body parsers.
app.register(
  paymentWebhook(
    { url: '/webhooks/payments', secret: process.env.WEBHOOK_SECRET },
    payments.receive,
  ),
);

app.post('/orders', async (_request, reply) => {
  reply.code(201);
  return checkout(15_000);
});

app.get<{ Params: { reference: string } }>('/orders/:reference', async (request) => {
  const { status } = await payments.settle(request.params.reference);
  return { status };
});
