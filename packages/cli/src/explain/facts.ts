/** What `explain` knows about an order before it names causes. */
import type { Amount, Order, Payments } from '@paylink/payments';
import type { Shop } from '../shop/with-shop.js';
import { messageOf } from '../terminal/failure.js';

type Explanation = Awaited<ReturnType<Payments['explain']>>;

export interface Facts extends Explanation {
  readonly reference: string;
  readonly tenant: string | null;
  /** The errors behind the outcome, the outermost first. */
  readonly faults: readonly Fault[];
  /** True if the service asked Paylink to wait. */
  readonly isPaused: boolean;
  /** How often the lists `unpaid` and `paid` name the reference. Undefined if nobody could look. */
  readonly timesListed: number | undefined;
  /** True if the service knows none of a few paid orders. Undefined if nobody could look. */
  readonly knowsNoOrder: boolean | undefined;
  /** Where `verify` lists a paid order: `confirmed`, `notPaid`, `differs` or `noPayment`. */
  readonly verified: string | undefined;
}

interface Fault {
  readonly code: string;
  readonly status: number | undefined;
  readonly message: string;
}

/** References that are read from each list. A longer list proves nothing. */
const MOST_READ = 10_000;
const SAMPLE = 5;
/** Milliseconds for each list, and for the questions about the sample. */
const TIME_LIMIT = 5_000;

const VERIFIED = ['confirmed', 'notPaid', 'differs', 'noPayment'] as const;

export async function factsOf(
  { payments, orders }: Shop,
  reference: string,
  tenant: string | undefined,
  stop: AbortSignal,
): Promise<Facts> {
  const options = { ...(tenant === undefined ? {} : { tenant }), signal: stop };
  const explained = await payments.explain(reference, options);
  const context = { tenant: tenant ?? null, signal: stop };
  const paid = await firstOf(() => orders?.paid?.(context));
  const unpaid = await firstOf(() => orders?.unpaid?.(context));
  const listed = paid === undefined || unpaid === undefined ? undefined : [...paid, ...unpaid];
  const { outcome, error } = explained;
  const sample = paid?.filter((each) => each !== reference).slice(0, SAMPLE) ?? [];
  const asked = outcome === 'no_payment' ? sample : outcome === 'paid' ? [reference] : [];
  const report =
    asked.length === 0
      ? undefined
      : await payments.verify(asked, { ...options, timeLimit: TIME_LIMIT });
  return {
    ...explained,
    reference,
    tenant: tenant ?? null,
    faults: faultsOf(error),
    isPaused: typeof (Object(error) as { retryAfter?: unknown }).retryAfter === 'number',
    timesListed: listed?.filter((each) => each === reference).length,
    knowsNoOrder: report === undefined ? undefined : report.noPayment.count === asked.length,
    verified: VERIFIED.find((name) => outcome === 'paid' && report![name].count > 0),
  };
}

/** Returns undefined if there is no such list, or if the list fails or hangs. */
async function firstOf(list: () => unknown): Promise<readonly string[] | undefined> {
  const late = new Promise<undefined>((resolve) => {
    setTimeout(resolve, TIME_LIMIT, undefined).unref();
  });
  return Promise.race([readList(list), late]).catch(() => undefined);
}

async function readList(list: () => unknown): Promise<readonly string[] | undefined> {
  const references = (await list()) as AsyncIterable<string> | undefined;
  if (references === undefined) return undefined;
  const read: string[] = [];
  for await (const reference of references) {
    read.push(reference);
    if (read.length === MOST_READ) break;
  }
  return read;
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

export function describeOrder(order: Order | null): string {
  if (order === null) return 'not found';
  // The row may break the contract.
  const { amount, currency, paid, closed } = order as Readonly<Record<keyof Order, unknown>>;
  const stored = isRange(amount) ? `${amount.min} to ${amount.max}` : String(amount);
  const state = typeof paid === 'boolean' ? (paid ? 'paid' : 'unpaid') : `paid: ${String(paid)}`;
  return `${stored} ${String(currency)}, ${state}${closed === true ? ', closed' : ''}`;
}

export function isRange(amount: unknown): amount is { readonly min: Amount; readonly max: Amount } {
  return typeof amount === 'object' && amount !== null;
}

export function describePayment(payment: Explanation['payment']): string {
  if (payment === null) return 'no answer';
  const { status, amount, currency } = payment;
  return amount === undefined ? status : `${status}, ${amount} ${String(currency)}`;
}
