import { memoryStore } from '@paylink/core';
import { paymentWebhook } from '@paylink/lambda';

/** Stands for the merchant's database. */
export const paidOrders: string[] = [];

// Made once for each instance of the function. In production a store that all instances share: this one each has for itself.
export const handler = paymentWebhook(
  { secret: process.env['WEBHOOK_SECRET'], idempotency: memoryStore() },
  {
    'payment.succeeded': ({ reference }) => {
      paidOrders.push(reference);
    },
  },
);
