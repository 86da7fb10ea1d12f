import fastify from 'fastify';
import { checkout } from './checkout';
import { paymentRoutes } from './payment-webhook';

const app = fastify({ logger: true });
await app.register(paymentRoutes);

app.post('/checkout', async (_request, reply) => {
  reply.code(201);
  return checkout(15_000);
});

await app.listen({ port: 3000 });
