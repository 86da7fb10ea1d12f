/** A function of Lambda whose orders are in memory, and its first notification. */
import { createHmac } from 'node:crypto';
import { createClient } from '@paylink/client';
import { paymentWebhook } from '@paylink/lambda';
import { createPayments, memoryOrders } from '@paylink/payments';

const SECRET = 'the secret of the webhook, 32 bytes';
const order = { reference: 'order-1', amount: 15_000, currency: 'XOF' };

const { orders, add } = memoryOrders();
add(order);
const client = createClient({
  baseUrl: 'https://service.example/api',
  apiKey: 'sk_live_1.secret',
  fetch: async () => Response.json({ ...order, type: 'payment', status: 'success' }),
});
const payments = createPayments({ client, orders });

export const handler = paymentWebhook({ secret: SECRET }, payments.receive);

const body = JSON.stringify({ reference: order.reference });

export const notification = {
  version: '2.0',
  requestContext: { http: { method: 'POST' } },
  headers: {
    'x-service-event': 'payment.succeeded',
    'x-service-signature': createHmac('sha256', SECRET).update(body).digest('hex'),
  },
  body,
  isBase64Encoded: false,
};
