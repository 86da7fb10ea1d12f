/** The merchant's code, which every host's example shares: the orders and the handlers. */
import { createPayments, WebhookError, type Order } from '@paylink/payments';
import { z } from 'zod';

/** Replaces the merchant's database. */
async function query(method: 'GET' | 'POST', path: string, reference: string): Promise<unknown> {
  const url = `${process.env.ORDERS_URL}/${path}/${encodeURIComponent(reference)}`;
  const response = await fetch(url, { method });
  if (response.status === 404) return undefined;
  if (!response.ok) throw new Error('the database is down');
  return response.json();
}

const payments = createPayments({
  // Replaces createClient({ baseUrl, apiKey }) from @paylink/client. This service reports every
  // order as paid.
  client: {
    getPayment: async (reference: string) => ({
      ...{ reference, amount: 1_500, currency: 'XOF', status: 'success' },
    }),
  },
  orders: {
    find: async (reference) => (await query('GET', 'orders', reference)) as Order | undefined,
    credit: async ({ reference }) => (await query('POST', 'credits', reference)) as number,
  },
});

export const handlers = {
  'payment.succeeded': payments.receive,
  'payment.refunded': async ({ reference }: { readonly reference: string }) => {
    const booked = await query('POST', 'refunds', reference);
    if (booked === undefined) throw new WebhookError('unknown_order');
  },
};

export const options = {
  events: { 'payment.refunded': z.object({ reference: z.string(), refund_id: z.string() }) },
  // Shorter than the default, so that attacks with slow senders end sooner.
  bodyTimeout: 3_000,
};
