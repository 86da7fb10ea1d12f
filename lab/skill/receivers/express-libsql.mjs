import express from 'express';
import { paymentWebhook } from '@paylink/express';
import { payments } from '../payments/libsql.mjs';

export { createOrder, orders, payments } from '../payments/libsql.mjs';

const app = express();
app.post(
  '/webhooks/payments',
  paymentWebhook({ secret: process.env.WEBHOOK_SECRET }, payments.receive),
);
app.use(express.json());
app.get('/orders/:reference', async (req, res) => {
  res.json({ status: (await payments.settle(req.params.reference)).status });
});
// The tests import this file too, without a port.
if (process.env.PORT) app.listen(Number(process.env.PORT));
