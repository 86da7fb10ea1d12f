import { env } from 'cloudflare:workers';
import { createClient } from '@paylink/client';
import { createPayments } from '@paylink/payments';
import { orders } from './orders.ts';

const clientOfRequest = () =>
  createClient({ baseUrl: env.PAYLINK_BASE_URL, apiKey: env.PAYLINK_API_KEY });

/** Created for each request, because work that another request started may never finish. */
export const paymentsOfRequest = () => createPayments({ client: clientOfRequest(), orders });

export async function createOrder(order: {
  reference: string;
  amount: number;
  currency: string;
}): Promise<void> {
  await env.DB.prepare('INSERT INTO orders (reference, amount, currency) VALUES (?, ?, ?)')
    .bind(order.reference, order.amount, order.currency)
    .run();
}

/** Inserts an order, then creates its only payment link. Send the customer to `url`. */
export async function checkout(amount: number) {
  const reference = crypto.randomUUID();
  await createOrder({ reference, amount, currency: 'XOF' });
  const return_url = `${env.SHOP_URL}/orders/${reference}`;
  const { url } = await clientOfRequest().createPaymentLink(
    { amount, reference, single_use: true, return_url },
    // The customer waits for the page, so at most 5 seconds.
    { idempotencyKey: reference, signal: AbortSignal.timeout(5_000) },
  );
  return { reference, url };
}
