import { randomUUID } from 'node:crypto';
import { createClient } from '@paylink/client';
import { createPayments } from '@paylink/payments';
import { createOrder, orders } from './orders.ts';

// For paylink doctor and torture.
export { createOrder, orders };

const client = createClient({
  baseUrl: process.env.PAYLINK_BASE_URL,
  apiKey: process.env.PAYLINK_API_KEY,
});

export const payments = createPayments({ client, orders });

export async function checkout(amount: number) {
  const reference = randomUUID();
  await createOrder({ reference, amount, currency: 'XOF' });
  const return_url = `http://localhost:3000/orders/${reference}`;
  const link = await client.createPaymentLink(
    { amount, reference, single_use: true, return_url },
    // The customer waits for the page, so at most 5 seconds.
    { idempotencyKey: reference, signal: AbortSignal.timeout(5_000) },
  );
  return { reference, pay: link.url };
}
