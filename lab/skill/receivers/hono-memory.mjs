import { serve } from '@hono/node-server';
import { Hono } from 'hono';
import { createClient } from '@paylink/client';
import { paymentWebhook } from '@paylink/hono';
import { createPayments } from '@paylink/payments';

const rows = new Map();

export function createOrder({ reference, amount, currency }) {
  if (rows.has(reference)) throw new Error('an order has this reference');
  rows.set(reference, { reference, amount, currency, paid: false });
}

export const orders = {
  find: (reference) => rows.get(reference),
  credit({ reference, amount, currency }) {
    const row = rows.get(reference);
    if (row === undefined || row.paid || row.amount !== amount || row.currency !== currency)
      return 0;
    rows.set(reference, { ...row, paid: true });
    return 1;
  },
};

const client = createClient({
  baseUrl: process.env.PAYLINK_BASE_URL,
  apiKey: process.env.PAYLINK_API_KEY,
});
export const payments = createPayments({ client, orders });

const app = new Hono();
app.post(
  '/webhooks/payments',
  paymentWebhook({ secret: process.env.WEBHOOK_SECRET }, payments.receive),
);
app.get('/orders/:reference', async (c) =>
  c.json({ status: (await payments.settle(c.req.param('reference'))).status }),
);
// The schedule imports this file too, without a port.
if (process.env.PORT) serve({ fetch: app.fetch, port: Number(process.env.PORT) });
