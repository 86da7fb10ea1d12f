import { isPaylinkError, type PaylinkClient } from '@paylink/client';
import type { Order } from './orders.js';

/**
 * What the customer reads of an order: `confirming` is paid and not yet credited, `unprepared` has no link to pay by, `unknown` is
 * not credited while the service does not answer.
 */
export type OrderState = 'paid' | 'confirming' | 'unpaid' | 'cancelled' | 'unprepared' | 'unknown';

/** Where the customer comes from, as the address of the page says. It decides nothing but words. */
export type CameFrom = 'payment' | 'cancel' | undefined;

// The page must not wait long for the words that it shows.
const PATIENCE = 2_000;

/** Finds out what the customer should read. Only the credit makes an order paid; the service is asked for the words before it. */
export async function orderState(order: Order, from: CameFrom, paylink: PaylinkClient): Promise<OrderState> {
  if (order.isPaid) return 'paid';
  if (order.payUrl === null) return 'unprepared';
  // The customer has just paid: whatever the service answers by now, "not paid" would be wrong.
  if (from === 'payment') return 'confirming';
  const status = await statusOf(order.reference, paylink);
  if (status === 'success') return 'confirming';
  if (status === 'cancelled' || from === 'cancel') return 'cancelled';
  return status === undefined ? 'unknown' : 'unpaid';
}

async function statusOf(reference: string, paylink: PaylinkClient): Promise<string | undefined> {
  try {
    return (await paylink.getPayment(reference, { signal: AbortSignal.timeout(PATIENCE) })).status;
  } catch (error) {
    if (!isPaylinkError(error)) console.error('[shop]', error);
    return undefined;
  }
}
