import type { Payments } from '@paylink/payments';
import type { Attempt, ShopOrder } from './orders.js';

/**
 * The order in the customer's words. `confirming`: the customer comes from the payment page, and
 * the service does not know yet. `checking`: nobody can tell right now, or a person must decide.
 * `unprepared`: the newest attempt has no payment link.
 */
export type OrderState =
  | 'paid'
  | 'confirming'
  | 'checking'
  | 'unpaid'
  | 'failed'
  | 'cancelled'
  | 'unprepared';

export interface Standing {
  readonly state: OrderState;
  /** The one page to pay at, if the state is `unpaid`. */
  readonly payUrl?: string;
}

type Link = Attempt & { readonly payUrl: string };

/** A page asks about no more links. The webhook and the schedule credit the older ones. */
const MOST_LINKS = 5;

/** Returns the attempts that have a link, the newest first. */
export function linksOf({ attempts }: ShopOrder): Link[] {
  return attempts
    .filter((attempt): attempt is Link => attempt.payUrl !== null)
    .slice(0, MOST_LINKS);
}

/**
 * Credits the order if the service reports a payment by any of its links. Returns the state to
 * show. `isBack`: the customer comes from the payment page, which changes the words alone.
 */
export async function settleOrder(
  order: ShopOrder,
  payments: Payments,
  isBack: boolean,
): Promise<Standing> {
  if (order.isPaid) return { state: 'paid' };
  const links = linksOf(order);
  const settled = await Promise.all(links.map(({ reference }) => payments.settle(reference)));
  const statuses = settled.map(({ status }) => status);
  // Closed is a link of an order that another link has paid.
  if (statuses.some((status) => status === 'paid' || status === 'closed')) return { state: 'paid' };
  if (!statuses.every((status) => UNPAID.has(status))) return { state: 'checking' };
  const open = links[statuses.indexOf('pending')];
  // The customer has just paid, so "not paid" would be wrong.
  if (open !== undefined)
    return isBack ? { state: 'confirming' } : { state: 'unpaid', payUrl: open.payUrl };
  if (order.attempts[0].payUrl === null) return { state: 'unprepared' };
  return { state: statuses[0] === 'cancelled' ? 'cancelled' : 'failed' };
}

const UNPAID: ReadonlySet<string> = new Set(['pending', 'failed', 'cancelled']);
