import { createClient } from '@paylink/client';
import { createPayments } from '@paylink/payments';
import { close, createOrder, orders } from './orders';

export const paylink = createClient({
  baseUrl: process.env['PAYLINK_BASE_URL'],
  apiKey: process.env['PAYLINK_API_KEY'],
});

/** Defines how an order is credited. The webhook, the return page and the schedule share it. */
export const payments = createPayments({ client: paylink, orders });

// For paylink reconcile, verify, explain, doctor and torture.
export { close, createOrder, orders };
