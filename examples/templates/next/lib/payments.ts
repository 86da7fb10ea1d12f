import { createClient, type PaylinkClient } from '@paylink/client';
import { createPayments } from '@paylink/payments';
import { close, createOrder, orders } from './orders';

let client: PaylinkClient | undefined;
/** Created on first use: `next build` imports every route and may not have the API key. */
export function paylink(): PaylinkClient {
  client ??= createClient({
    baseUrl: process.env['PAYLINK_BASE_URL'],
    apiKey: process.env['PAYLINK_API_KEY'],
  });
  return client;
}

const getPayment = (reference: string, options: object) => paylink().getPayment(reference, options);

/** Defines how an order is credited. The webhook, the return page and the schedule share it. */
export const payments = createPayments({ client: { getPayment }, orders });

// For paylink reconcile, verify, explain, doctor and torture.
export { close, createOrder, orders };
