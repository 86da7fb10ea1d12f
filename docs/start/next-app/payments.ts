import { randomUUID } from 'node:crypto';
import { createClient, type PaylinkClient } from '@paylink/client';
import { createPayments } from '@paylink/payments';
import { createOrder, orders } from './orders.ts';

// For paylink doctor and torture.
export { createOrder, orders };

let client: PaylinkClient | undefined;
/** Created at the first call, because `next build` imports every route without the API key. */
function paylink() {
  client ??= createClient({
    baseUrl: process.env.PAYLINK_BASE_URL,
    apiKey: process.env.PAYLINK_API_KEY,
  });
  return client;
}

export const payments = createPayments({
  client: { getPayment: (...call) => paylink().getPayment(...call) },
  orders,
});

export async function checkout(amount: number) {
  const reference = randomUUID();
  await createOrder({ reference, amount, currency: 'XOF' });
  const return_url = `http://localhost:3000/api/orders/${reference}`;
  const link = await paylink().createPaymentLink(
    { amount, reference, single_use: true, return_url },
    // The customer waits for the page, so at most 5 seconds.
    { idempotencyKey: reference, signal: AbortSignal.timeout(5_000) },
  );
  return { reference, pay: link.url };
}
