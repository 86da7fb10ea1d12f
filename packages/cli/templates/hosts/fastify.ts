import { paymentWebhook } from '@paylink/fastify';
import type { FastifyInstance } from 'fastify';
import { payments } from './payments';

export async function paymentRoutes(app: FastifyInstance): Promise<void> {
  // An encapsulated plugin: your other routes keep their body parsers.
  const webhook = { url: '/webhooks/payments', secret: process.env['WEBHOOK_SECRET'] };
  await app.register(paymentWebhook(webhook, payments.receive));

  // The page that the customer returns to. First check that the order belongs to this customer.
  app.get<{ Params: { reference: string } }>('/payments/:reference', async (request) => {
    const { status } = await payments.settle(request.params.reference);
    return { status };
  });
}
