/** Calls the merchant's `credit` in the store. Commits only if `credit` reports a credit. */
import { WebhookError } from '@paylink/core';
import type { ServicePayment } from './ask.js';
import type { Identity } from './identity.js';
import { withLimit } from './limits.js';
import { logFailure, observed } from './observe.js';
import { runOnce } from './run-once.js';
import { SUCCEEDED, type Settings } from './settings.js';

/** The trigger of a credit: the notification, the return page or the schedule. */
export type Source = 'webhook' | 'settle' | 'reconcile';

export interface CreditContext<Tx> {
  /** The store's transaction. Write through `tx`, so that credit and mark commit together. */
  readonly tx: Tx;
  /** Aborts after the time limit. Stop all work that is still running. */
  readonly signal: AbortSignal;
  /** The merchant whose order this is. Undefined with one merchant. */
  readonly tenant: string | undefined;
  readonly source: Source;
}

/**
 * The number of rows that `credit` changed, as the driver returns it. 1 or more commits. Any other
 * number and null roll back. `already_credited` commits the mark without a credit.
 */
export type CreditResult = number | bigint | 'already_credited' | null;

export type Paid<Payment extends ServicePayment> = Payment & { readonly status: 'success' };

/** Credits the order of a payment that the service has confirmed. */
export type Credit<Tx, Payment extends ServicePayment> = (
  payment: Paid<Payment>,
  context: CreditContext<Tx>,
) => CreditResult | PromiseLike<CreditResult>;

/** `duplicate`: an earlier call credited the order, or `credit` returned `already_credited`. */
export type Credited = 'handled' | 'duplicate' | 'in_progress';

/**
 * Credits an order once.
 *
 * @throws the error of `credit` as the same object, or WebhookError `not_credited` or
 *   `store_unavailable`
 */
export async function creditOnce<Tx, Payment extends ServicePayment>(
  { store, credit }: Pick<Settings<Tx, Payment>, 'store' | 'credit'>,
  payment: Paid<Payment>,
  identity: Identity,
  context: Omit<CreditContext<Tx>, 'tx'>,
): Promise<Credited> {
  let wasCreditedBefore = false;
  const work = async (tx: Tx): Promise<void> => {
    const returned: unknown = await credit(payment, { tx, ...context });
    wasCreditedBefore = returned === 'already_credited';
    if (!wasCreditedBefore && !isRowCount(returned)) throw notCredited(payment.reference, returned);
  };
  const result = await runOnce(store, identity, work, context.signal);
  if (result !== 'done') return result;
  return wasCreditedBefore ? 'duplicate' : 'handled';
}

/** Credits outside a receiver, and so limits the time, observes and logs itself. */
export async function creditNow<Tx, Payment extends ServicePayment>(
  settings: Settings<Tx, Payment>,
  payment: Paid<Payment>,
  identity: Identity,
  {
    source,
    tenant,
    signal,
  }: Pick<CreditContext<Tx>, 'source' | 'tenant'> & { readonly signal: AbortSignal | undefined },
): Promise<Credited> {
  const { timeout: milliseconds, observe, logger } = settings;
  const { reference } = payment;
  try {
    return await observed(observe, { source, kind: SUCCEEDED, reference, tenant }, () =>
      withLimit({ milliseconds, signal, code: 'handler_timeout' }, (limit) =>
        creditOnce(settings, payment, identity, { source, tenant, signal: limit }),
      ),
    );
  } catch (error) {
    if (signal?.aborted !== true) logFailure(logger, { source, reference }, error);
    throw error;
  }
}

function isRowCount(returned: unknown): boolean {
  if (typeof returned === 'bigint') return returned > 0n;
  return Number.isInteger(returned) && (returned as number) > 0;
}

function notCredited(reference: string, returned: unknown): WebhookError {
  const order = JSON.stringify(reference.length > 100 ? `${reference.slice(0, 100)}…` : reference);
  const message = `credit ${problemOf(returned)} for the order ${order}. Nothing was committed`;
  const cause = returned instanceof Error ? returned : undefined;
  return new WebhookError('not_credited', { message, cause });
}

function problemOf(returned: unknown): string {
  if (returned === 0 || returned === 0n) {
    return (
      'changed no row (no such order yet, another amount or currency, ' +
      'or a WHERE that does not match)'
    );
  }
  const advice = `return the number of changed rows, or 'already_credited'`;
  if (returned instanceof Error) return `returned an Error: throw it instead`;
  if (typeof returned !== 'object' || returned === null) {
    const isPlain = typeof returned === 'number' || returned == null;
    return `returned ${isPlain ? String(returned) : `a ${typeof returned}`}: ${advice}`;
  }
  const count = rowCountIn(returned);
  if (count !== undefined) return `returned a result object: return result.${count} instead`;
  return `returned an object: ${advice}`;
}

/** Properties with which drivers and ORMs report the number of changed rows. */
const ROW_COUNTS = ['rowCount', 'count', 'affectedRows', 'affected', 'numUpdatedRows', 'changes'];

function rowCountIn(result: object): string | undefined {
  try {
    return ROW_COUNTS.find((name) => name in result);
  } catch {
    return undefined; // a Proxy threw
  }
}
