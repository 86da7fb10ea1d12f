import { createClient } from '@paylink/client';
import { paymentWebhook } from '@paylink/lambda';
import { createPayments, memoryOrders } from '@paylink/payments';

const { WEBHOOK_SECRET, PAYLINK_BASE_URL, PAYLINK_API_KEY } = process.env;

// In production, `orders` reads and writes your own table: docs/databases.md.
export const { orders, add } = memoryOrders();

// Created once per instance of the function.
export const payments = createPayments({
  client: createClient({ baseUrl: PAYLINK_BASE_URL, apiKey: PAYLINK_API_KEY }),
  orders,
});

export const handler = paymentWebhook({ secret: WEBHOOK_SECRET }, payments.receive);
