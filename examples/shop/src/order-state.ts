import type { Payments, Settled } from '@paylink/payments';
import type { Order, Orders } from './orders.js';

/**
 * The words that the customer reads: `confirming` is paid and not yet credited, `unprepared` has no
 * link to pay by, and the payment of `unknown` could not be checked.
 */
export type OrderState = 'paid' | 'confirming' | 'unpaid' | 'cancelled' | 'unprepared' | 'unknown';

/** The way of the customer, from the page's address. It decides nothing but words. */
export type CameFrom = 'payment' | 'cancel' | undefined;

/** Milliseconds that the page waits for the service. */
const PATIENCE = 2_000;

interface Way {
  readonly from: CameFrom;
  readonly orders: Orders;
  readonly payments: Payments;
}

/** Credits the order if the service says that it is paid, even if the notification is late. */
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
  // The customer has just paid: "not paid" would be wrong, even if the service does not know yet.
  if (from === 'payment') return { order, state: 'confirming' };
  if (status === 'cancelled' || from === 'cancel') return { order, state: 'cancelled' };
  return { order, state: status === undefined ? 'unknown' : 'unpaid' };
}

/** The status of the payment, or undefined if it could not be found out. */
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
