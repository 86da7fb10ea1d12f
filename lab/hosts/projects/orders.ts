/**
 * The merchant's code, which every host's example shares: the credit of an order, and its store.
 */
import { createPayments, memoryStore, WebhookError } from '@paylink/payments';
import { z } from 'zod';

/**
 * Replaces the merchant's database: records a credit or a refund, and returns the number of changed
 * rows.
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
  // Replaces createClient({ baseUrl, apiKey }) of @paylink/client: this service reports every order
  // as paid.
  client: { getPayment: async (reference: string) => ({ reference, status: 'success' }) },
  // In production, use a store that all instances share: this store forgets when the process ends.
  store: memoryStore(),
  credit: ({ reference }) => write('credits', reference),
  handlers: { 'payment.refunded': ({ reference }) => write('refunds', reference) },
});

export const options = {
  events: { 'payment.refunded': z.object({ reference: z.string(), refund_id: z.string() }) },
  // Shorter than the default, so that attacks by slow senders end sooner.
  bodyTimeout: 3_000,
};
