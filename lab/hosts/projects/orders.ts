/**
 * The merchant's side, the same in each host's example: how an order is credited, and the store
 * that lets it happen once.
 */
import { createPayments, memoryStore, WebhookError } from '@paylink/payments';
import { z } from 'zod';

/**
 * Stands for the merchant's database, in which an order is credited or a refund is written down.
 * Gives the rows that changed.
 */
async function write(entry: 'credits' | 'refunds', reference: string): Promise<number> {
  const response = await fetch(
    `${process.env.ORDERS_URL}/${entry}/${encodeURIComponent(reference)}`,
    { method: 'POST' },
  );
  if (response.status === 404) throw new WebhookError('unknown_order', { status: 503 });
  if (!response.ok) throw new Error('the database is down');
  return 1;
}

export const payments = createPayments({
  // Stands for createClient({ baseUrl, apiKey }) of @paylink/client: on this service every order is
  // paid.
  client: { getPayment: async (reference: string) => ({ reference, status: 'success' }) },
  // In production a store that all instances share: this one forgets when the process ends.
  store: memoryStore(),
  credit: ({ reference }) => write('credits', reference),
  handlers: { 'payment.refunded': ({ reference }) => write('refunds', reference) },
});

export const options = {
  events: { 'payment.refunded': z.object({ reference: z.string(), refund_id: z.string() }) },
  // Shorter than the default, so that the attacks by slow senders are over sooner.
  bodyTimeout: 3_000,
};
