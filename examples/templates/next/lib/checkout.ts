import { randomUUID } from 'node:crypto';
import { createOrder } from './orders';
import { paylink } from './payments';

/**
 * Inserts an order, then creates its only payment link. Send the customer to `url`. A customer who
 * tries again pays through the same link.
 */
export async function checkout(amount: number): Promise<{ reference: string; url: string }> {
  // A reference must never repeat, not even after you restore a backup.
  const reference = randomUUID();
  const link = {
    amount,
    reference,
    single_use: true,
    return_url: `${process.env['SHOP_URL']}/api/payments/${reference}`,
  };
  try {
    await createOrder({ reference, amount, currency: 'XOF' });
    // The customer waits for the page, so at most 5 seconds.
    const options = { idempotencyKey: reference, signal: AbortSignal.timeout(5_000) };
    const { url } = await paylink().createPaymentLink(link, options);
    return { reference, url };
  } catch (error) {
    console.error(error);
    // Some frameworks show the customer an error's message, or answer with its status.
    throw new Error('The payment page is not available. Please try again later.');
  }
}
