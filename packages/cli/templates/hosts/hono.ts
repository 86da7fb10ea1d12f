import { Hono } from 'hono';
import { paymentWebhook } from '@paylink/hono';
import { payments } from './payments';

export const paymentRoutes = new Hono();

const secret = process.env['WEBHOOK_SECRET'];
paymentRoutes.post('/webhooks/payments', paymentWebhook({ secret }, payments.receive));

// The page that the customer returns to. First check that the order belongs to this customer.
paymentRoutes.get('/payments/:reference', async (c) => {
  const { status } = await payments.settle(c.req.param('reference'));
  return c.json({ status });
});
