import type { Payments, Settled } from '@paylink/payments';
import type { Order, Orders } from './orders.js';

/**
 * The state in the customer's words. `confirming`: paid, but not credited yet. `unprepared`: the
 * order has no link. `unknown`: the payment could not be checked.
 */
export type OrderState = 'paid' | 'confirming' | 'unpaid' | 'cancelled' | 'unprepared' | 'unknown';

/** The customer's origin, from the page's address. Only the words depend on it. */
export type CameFrom = 'payment' | 'cancel' | undefined;

/** Milliseconds that the page waits for the service. */
const PATIENCE = 2_000;

interface Way {
  readonly from: CameFrom;
  readonly orders: Orders;
  readonly payments: Payments;
}

/** Credits the order if the service reports the payment, even if the notification is late. */
export async function settleOrder(
  order: Order,
  { from, orders, payments }: Way,
): Promise<{ order: Order; state: OrderState }> {
  if (order.isPaid) return { order, state: 'paid' };
  if (order.payUrl === null) return { order, state: 'unprepared' };
  const status = await settle(order.reference, payments);
  if (status === 'success') {
    const settled = (await orders.find(order.reference)) ?? order;
    return { order: settled, state: settled.isPaid ? 'paid' : 'confirming' };
  }
  // The customer has just paid, so "not paid" would be wrong even if the service does not know yet.
  if (from === 'payment') return { order, state: 'confirming' };
  if (status === 'cancelled' || from === 'cancel') return { order, state: 'cancelled' };
  return { order, state: status === undefined ? 'unknown' : 'unpaid' };
}

/** Returns the payment's status, or undefined if it could not be checked. */
async function settle(
  reference: string,
  payments: Payments,
): Promise<Settled['status'] | undefined> {
  try {
    const signal = AbortSignal.timeout(PATIENCE);
    return (await payments.settle(reference, { signal })).status;
  } catch (error) {
    const reason = error instanceof Error ? error.message : 'unknown';
    console.error(`[shop] the order ${reference} is not settled: ${reason}`);
    return undefined;
  }
}
