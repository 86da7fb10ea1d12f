/** The merchant's side, the same in each host's example: what a proven event does, and the store that lets it happen once. */
import { memoryStore, WebhookError } from '@paylink/core';
import { z } from 'zod';

/** Stands for the merchant's database, in which an order is credited or a refund is written down. */
async function write(entry: 'credits' | 'refunds', reference: string): Promise<void> {
  const response = await fetch(`${process.env.ORDERS_URL}/${entry}/${encodeURIComponent(reference)}`, { method: 'POST' });
  if (response.status === 404) throw new WebhookError('unknown_order', { status: 503 });
  if (!response.ok) throw new Error('the database is down');
}

export const options = {
  // In production a store that all instances share: this one forgets when the process ends.
  idempotency: memoryStore(),
  events: { 'payment.refunded': z.object({ reference: z.string(), refund_id: z.string() }) },
  // Shorter than the default, so that the attacks by slow senders are over sooner.
  bodyTimeout: 3_000,
};

export const handlers = {
  'payment.succeeded': ({ reference }: { readonly reference: string }) => write('credits', reference),
  'payment.refunded': ({ reference }: { readonly reference: string }) => write('refunds', reference),
};
