import { randomUUID } from 'node:crypto';
import { createOrder } from './orders';
import { paylink } from './payments';

/**
 * Inserts an order, then creates its only payment link. Send the customer to `url`. If a customer
 * tries again, call this again: one link per order.
 */
export async function checkout(amount: number): Promise<{ reference: string; url: string }> {
  // A reference must never repeat, not even after you restore a backup.
  const reference = randomUUID();
  await createOrder({ reference, amount, currency: 'XOF' });
  const link = await paylink.createPaymentLink(
    {
      amount,
      reference,
      single_use: true,
      return_url: `${process.env['SHOP_URL']}/payments/${reference}`,
    },
    // The customer waits for the page, so at most 5 seconds.
    { idempotencyKey: reference, signal: AbortSignal.timeout(5_000) },
  );
  return { reference, url: link.url };
}
