import type { SignedDelivery } from '@paylink/testing';
import fastify from 'fastify';
import { paymentRoutes } from './payment-webhook';

export async function startHost() {
  const app = fastify();
  await app.register(paymentRoutes);
  return {
    deliver: async (delivery: SignedDelivery) =>
      (await app.inject(delivery.toInject('/webhooks/payments'))).statusCode,
    close: () => app.close(),
  };
}
