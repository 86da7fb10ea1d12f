/** What `explain` knows about an order before it names causes. */
import type { Amount, Order, Payments } from '@paylink/payments';
import type { Tenant } from '../shop/with-shop.js';
import { messageOf } from '../terminal/failure.js';

type Explanation = Awaited<ReturnType<Payments['explain']>>;

export interface Facts extends Explanation {
  readonly reference: string;
  readonly tenant: string | null;
  /** The merchants that were asked, if --tenant names them. */
  readonly tenants: readonly string[];
  /** True if the service has no payment of a reference that your database does not have. */
  readonly isNowhere: boolean;
  /** The errors behind the outcome, the outermost first. */
  readonly faults: readonly Fault[];
  /** True if the service asked Paylink to wait. */
  readonly isPaused: boolean;
  /** Where `verify` lists a paid order: `confirmed`, `notPaid`, `differs` or `noPayment`. */
  readonly verified: string | undefined;
}

interface Fault {
  readonly code: string;
  readonly status: number | undefined;
  readonly message: string;
}

/** Milliseconds for the question about a paid order. */
const TIME_LIMIT = 5_000;

const VERIFIED = ['confirmed', 'notPaid', 'differs', 'noPayment'] as const;

export async function factsOf(
  payments: Payments,
  reference: string,
  tenant: Tenant,
  stop: AbortSignal,
): Promise<Facts> {
  const options = { ...(tenant === undefined ? {} : { tenant }), signal: stop };
  const explained = await payments.explain(reference, options);
  const { outcome, error, payment, reason } = explained;
  const report =
    outcome === 'paid'
      ? await payments.verify([reference], { ...options, timeLimit: TIME_LIMIT })
      : undefined;
  return {
    ...explained,
    reference,
    tenant: tenant ?? null,
    tenants: [],
    // `explain` says in its reason alone that it asked.
    isNowhere:
      outcome === 'unknown_order' &&
      payment === null &&
      reason.endsWith('the service has no payment with this reference'),
    faults: faultsOf(error),
    isPaused: typeof (Object(error) as { retryAfter?: unknown }).retryAfter === 'number',
    verified: VERIFIED.find((name) => report !== undefined && report[name].count > 0),
  };
}

/** Returns the codes and statuses of the causes: the outermost error is Paylink's own. */
function faultsOf(error: unknown): Fault[] {
  const faults: Fault[] = [];
  for (let at = causeOf(error); at instanceof Error && faults.length < 5; at = causeOf(at)) {
    const { code, status } = at as { readonly code?: unknown; readonly status?: unknown };
    faults.push({
      code: typeof code === 'string' ? code : at.name,
      status: typeof status === 'number' ? status : undefined,
      message: messageOf(at),
    });
  }
  return faults;
}

function causeOf(error: unknown): unknown {
  return (Object(error) as Error).cause;
}

export function describeOrder({ order, outcome }: Explanation): string {
  if (order === null) return outcome === 'unknown_order' ? 'not found' : 'could not be read';
  // The row may break the contract.
  const { amount, currency, paid, closed } = order as Readonly<Record<keyof Order, unknown>>;
  const stored = isRange(amount) ? `${amount.min} to ${amount.max}` : String(amount);
  const state = typeof paid === 'boolean' ? (paid ? 'paid' : 'unpaid') : `paid: ${String(paid)}`;
  return `${stored} ${String(currency)}, ${state}${closed === true ? ', closed' : ''}`;
}

export function isRange(amount: unknown): amount is { readonly min: Amount; readonly max: Amount } {
  return typeof amount === 'object' && amount !== null;
}

export function describePayment({ payment, outcome, isNowhere }: Facts): string {
  const isKnown = outcome !== 'no_payment' && !isNowhere;
  if (payment === null) return isKnown ? 'no answer' : 'no such payment';
  const { status, amount, currency } = payment;
  return amount === undefined ? status : `${status}, ${amount} ${String(currency)}`;
}
