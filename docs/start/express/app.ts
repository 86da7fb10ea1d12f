import { paymentWebhook } from '@paylink/express';
import express from 'express';
import { checkout, payments } from './payments.ts';

export const app = express();

// Above every body parser: the signature covers the raw bytes.
app.post(
  '/webhooks/payments',
  paymentWebhook({ secret: process.env.WEBHOOK_SECRET }, payments.receive),
);
app.use(express.json());

app.post('/orders', async (_req, res) => {
  res.status(201).json(await checkout(15_000));
});

app.get('/orders/:reference', async (req, res) => {
  const { status } = await payments.settle(req.params.reference);
  res.json({ status });
});
