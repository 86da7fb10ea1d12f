import type { Payments } from '@paylink/payments';
import type { ShopOrder } from './orders.js';

/**
 * The order in the customer's words. `confirming`: the customer comes from the payment page, and
 * the service does not know yet. `checking`: nobody can tell right now, or a person must decide.
 * `unprepared`: the order has no payment link.
 */
export type OrderState =
  | 'paid'
  | 'confirming'
  | 'checking'
  | 'unpaid'
  | 'failed'
  | 'cancelled'
  | 'unprepared';

/** The customer's last page, from the address. Only the words depend on it. */
export type CameFrom = 'payment' | 'cancel' | undefined;

/** Credits the order if the service reports its payment, and returns the state to show. */
export async function settleOrder(
  order: ShopOrder,
  payments: Payments,
  from: CameFrom,
): Promise<OrderState> {
  if (order.isPaid) return 'paid';
  if (order.payUrl === null) return 'unprepared';
  const { status } = await payments.settle(order.reference);
  switch (status) {
    case 'paid':
    case 'failed':
    case 'cancelled':
      return status;
    case 'pending':
      // The customer has just paid, so "not paid" would be wrong.
      if (from === 'payment') return 'confirming';
      return from === 'cancel' ? 'cancelled' : 'unpaid';
    default:
      return 'checking';
  }
}
