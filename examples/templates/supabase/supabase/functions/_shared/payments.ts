import { createClient } from 'npm:@paylink/client';
import { createPayments } from 'npm:@paylink/payments';
import { createOrder, orders } from './orders.ts';

// For paylink doctor and torture.
export { createOrder, orders };

const client = createClient({
  baseUrl: Deno.env.get('PAYLINK_BASE_URL'),
  apiKey: Deno.env.get('PAYLINK_API_KEY'),
  // The emulator on your machine, as the functions' container sees it.
  allowHttp: ['host.docker.internal'],
});

export const payments = createPayments({ client, orders });

export async function checkout(amount: number) {
  const reference = crypto.randomUUID();
  await createOrder({ reference, amount, currency: 'XOF' });
  const link = await client.createPaymentLink(
    {
      amount,
      reference,
      single_use: true,
      return_url: `${Deno.env.get('SHOP_URL')}/orders/${reference}`,
    },
    // The customer waits for the page, so at most 5 seconds.
    { idempotencyKey: reference, signal: AbortSignal.timeout(5_000) },
  );
  return { reference, pay: link.url };
}
