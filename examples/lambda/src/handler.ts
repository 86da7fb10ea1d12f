import { createClient } from '@paylink/client';
import { paymentWebhook } from '@paylink/lambda';
import { createPayments, memoryStore } from '@paylink/payments';

/** Stands for the merchant's database. */
export const paidOrders: string[] = [];

const { WEBHOOK_SECRET, PAYLINK_BASE_URL, PAYLINK_API_KEY } = process.env;

// Created once per instance of the function.
export const payments = createPayments({
  client: createClient({ baseUrl: PAYLINK_BASE_URL, apiKey: PAYLINK_API_KEY }),
  // In production a store that all instances share, such as postgresStore(pool).
  store: memoryStore(),
  credit: ({ reference }) => paidOrders.push(reference),
});

export const handler = paymentWebhook({ secret: WEBHOOK_SECRET }, payments);
