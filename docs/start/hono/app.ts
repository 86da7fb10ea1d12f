import { paymentWebhook } from '@paylink/hono';
import { Hono } from 'hono';
import { checkout, payments } from './payments.ts';

export const app = new Hono();

app.post(
  '/webhooks/payments',
  paymentWebhook({ secret: process.env.WEBHOOK_SECRET }, payments.receive),
);
app.post('/orders', async (c) => c.json(await checkout(15_000), 201));
app.get('/orders/:reference', async (c) => {
  const { status } = await payments.settle(c.req.param('reference'));
  return c.json({ status });
});
