/** The outcomes of a run, and the one function that decides whether an order is credited. */
import { isWebhookError, type WebhookError } from '@paylink/core';
import { cutReference, faultOfReference, logLine, reasonOf } from '@paylink/core/internal';
import type {
  Explanation,
  Order,
  Outcome,
  ReconcileReport,
  ServicePayment,
  Settled,
} from './contract.js';
import type { Settings } from './options.js';
import type { Hold } from './order-lock.js';
import {
  checkOrder,
  differenceOf,
  fieldOfError,
  readFields,
  runError,
  toRow,
  type CheckedOrder,
  type Row,
} from './order.js';
import type { Run } from './run.js';

export interface Verdict {
  readonly outcome: Outcome;
  /** The webhook throws this error. Without an error, the webhook acknowledges. */
  readonly error?: WebhookError;
  /** The service's answer, if the run has asked. */
  readonly payment?: ServicePayment | undefined;
}

type ReconcileList = Exclude<keyof ReconcileReport, 'total' | 'keyRefused' | 'cursor'>;

/** The webhook throws the verdict's error, or acknowledges if there is none. */
export const TRANSLATIONS: Readonly<
  Record<Outcome, { readonly settle: Settled['status']; readonly reconcile: ReconcileList }>
> = {
  credited: { settle: 'paid', reconcile: 'credited' },
  paid: { settle: 'paid', reconcile: 'paid' },
  pending: { settle: 'pending', reconcile: 'pending' },
  no_payment: { settle: 'unknown', reconcile: 'noPayment' },
  failed: { settle: 'failed', reconcile: 'failed' },
  cancelled: { settle: 'cancelled', reconcile: 'cancelled' },
  unknown_order: { settle: 'unknown', reconcile: 'errors' },
  order_closed: { settle: 'closed', reconcile: 'undecided' },
  amount_differs: { settle: 'differs', reconcile: 'undecided' },
  not_credited: { settle: 'unavailable', reconcile: 'errors' },
  invalid_order: { settle: 'unavailable', reconcile: 'errors' },
  orders_unavailable: { settle: 'unavailable', reconcile: 'errors' },
  confirm_unavailable: { settle: 'unavailable', reconcile: 'errors' },
  handler_timeout: { settle: 'unavailable', reconcile: 'errors' },
};

/** Makes the verdict of an error that a step of the run threw. Rethrows a fault of our own code. */
export function refusal(error: unknown): Verdict & { readonly error: WebhookError } {
  if (!isWebhookError(error)) throw error;
  const outcome = error.code as Outcome;
  if (!Object.hasOwn(TRANSLATIONS, outcome)) throw error;
  return { outcome, error };
}

/** The facts of a run before its write. */
interface Findings {
  readonly order?: Row | undefined;
  readonly payment?: ServicePayment | undefined;
  /** Undefined if the order is to be credited. */
  readonly verdict?: Verdict | undefined;
}

/** Credits the order of a payment that succeeded, unless the order is already marked paid. */
export async function settleOrder(settings: Settings, run: Run, hold: Hold): Promise<Verdict> {
  const { payment, verdict: decided } = await examine(settings, run);
  const verdict = decided ?? (await creditOrder(settings, run, hold, payment!).catch(refusal));
  if (TRANSLATIONS[verdict.outcome].settle === 'paid') settings.forget(run);
  return { ...verdict, payment };
}

/** Finds the order, asks the service and compares both. Never writes. */
async function examine(settings: Settings, run: Run): Promise<Findings> {
  let order: Row | undefined;
  let payment: ServicePayment | undefined;
  try {
    order = await findOrder(settings, run);
    if (order.paid === true) return { order, verdict: { outcome: 'paid' } };
    const expected = checkOrder(order);
    payment = await settings.askerOf(run.tenant).ask(run);
    return { order, payment, verdict: compare(expected, payment) };
  } catch (error) {
    return { order, payment, verdict: refusal(error) };
  }
}

/**
 * Returns undefined if the order is to be credited.
 *
 * @throws WebhookError `amount_differs` or `order_closed`
 */
function compare(expected: CheckedOrder, payment: ServicePayment): Verdict | undefined {
  const { status } = payment;
  if (status !== 'success') {
    // It has signed a success to a webhook, so its API lags or a person must look.
    const problem = `the service returns the status ${status} for the payment`;
    return { outcome: status as Outcome, error: runError('payment_pending', problem) };
  }
  const difference = differenceOf(expected, payment);
  if (difference !== undefined) throw runError('amount_differs', difference);
  if (!expected.closed) return undefined;
  const problem =
    'the payment succeeded after the order was closed: credit the order, or refund it';
  throw runError('order_closed', problem);
}

/**
 * @throws WebhookError `unknown_order`, `invalid_order`, `orders_unavailable` or `handler_timeout`
 */
export async function findOrder({ orders }: Settings, run: Run): Promise<Row> {
  const { reference } = run;
  const fault = faultOfReference(reference);
  if (fault !== undefined) throw runError('unknown_order', `the reference ${fault}`);
  let fields: unknown;
  try {
    // A getter of an entity can throw.
    fields = readFields(
      await run.wait('find()', () => orders.find(reference, run.createContext())),
    );
  } catch (cause) {
    throw stepError(run, cause);
  }
  return toRow(fields, reference);
}

/** Makes the error of a step that threw, or that took too long. */
function stepError({ step, error }: Run, cause: unknown): WebhookError {
  return error ?? runError('orders_unavailable', `${step} threw`, cause);
}

/** Calls `credit`, and believes only the row. @throws WebhookError whose code is the outcome */
async function creditOrder(
  settings: Settings,
  run: Run,
  hold: Hold,
  { amount, currency }: ServicePayment,
): Promise<Verdict> {
  const { reference, source } = run;
  const confirmed = { reference, amount: amount!, currency: currency! };
  const logThrown = (problem: string, cause: unknown): void => {
    const message = `credit() threw, ${problem}`;
    logError(settings, run, runError('orders_unavailable', message, cause));
  };
  let order: Row;
  let returned: unknown;
  let failure: WebhookError | undefined;
  try {
    returned = await run.wait('credit()', () => {
      const context = Object.assign(run.createContext(), { source });
      const crediting = Promise.resolve(settings.orders.credit(confirmed, context));
      hold.keepFor(crediting);
      crediting.catch((cause: unknown) => {
        if (run.error !== undefined) logThrown('after the run had ended', cause);
      });
      return crediting;
    });
  } catch (error) {
    failure = stepError(run, error);
    if (run.error !== undefined) throw failure;
  }
  const isNone = returned === 0 || returned === 0n;
  try {
    order = await findOrder(settings, run);
    if (order.paid !== true) {
      checkOrder(order);
      throw failure ?? notCredited(isNone);
    }
  } catch (error) {
    if (failure !== undefined && error !== failure) {
      logThrown('and find() cannot tell whether the order is paid', failure.cause);
    }
    throw error;
  }
  if (failure === undefined) reportReturned(settings, run, returned);
  else logThrown('and the order is paid. Writes after the first one may be missing', failure.cause);
  if (order.closed === true) {
    const problem = 'was closed while Paylink asked the service, and is paid now: ship';
    const hint = '`credit` must write only while the order is open';
    logError(
      settings,
      run,
      runError('order_closed', `the order ${problem} it, or refund it. ${hint}`),
    );
  }
  return { outcome: isNone ? 'paid' : 'credited' };
}

function notCredited(isNone: boolean): WebhookError {
  const causes = isNone
    ? 'credit() changed no row. Look for a condition that does not match this order: amount, ' +
      'currency, tenant, or a column that is not NULL'
    : 'credit() returned. Look for a missing `await` or COMMIT, a write to another table or ' +
      'database, a trigger, rule, view or policy that swallows the write, or a replica that lags';
  return runError('not_credited', `find() still returns an unpaid order after ${causes}`);
}

export function logError({ logger }: Settings, run: Run, error: WebhookError): void {
  const { code, status } = error;
  const reference = cutReference(run.reference);
  logger.error(logLine(error, run), { code, status, reference, error });
}

/** Logs an unexpected return value of `credit`. */
function reportReturned({ logger, isNews }: Settings, run: Run, returned: unknown): void {
  if (typeof returned !== 'number' && typeof returned !== 'bigint' && returned !== null) {
    if (!isNews('what credit() returned')) return;
    const kind = returned === undefined ? 'nothing' : `a ${typeof returned}`;
    logger.warn(
      `[paylink] credit() returned ${kind} instead of the number of changed rows, or null if the ` +
        'driver does not know it',
    );
  } else if (returned !== null && returned > 1) {
    const reference = cutReference(run.reference);
    logger.error(
      `[paylink] credit() changed ${returned} rows for the order ${JSON.stringify(reference)}: ` +
        'if several orders have this reference, one payment has paid them all. Add a unique index',
      { code: 'not_credited', reference },
    );
  }
}

const REASONS: Readonly<Partial<Record<Outcome, string>>> = {
  credited: 'the order is unpaid, and the payment succeeded with its amount and currency',
  paid: 'the order is marked as paid',
};

export async function explain(settings: Settings, run: Run): Promise<Explanation> {
  const { order = null, verdict, ...found } = await examine(settings, run);
  const { outcome, error }: Verdict = verdict ?? { outcome: 'credited' };
  let { payment = null } = found;
  const isFinal =
    ['no_payment', 'confirm_unavailable', 'handler_timeout'].includes(outcome) ||
    faultOfReference(run.reference) !== undefined;
  let unasked: unknown;
  try {
    if (!isFinal) payment ??= await settings.askerOf(run.tenant).ask(run);
  } catch (thrown) {
    unasked = thrown;
  }
  if (payment?.status === 'success') settings.forget(run);
  const { message, cause } = error ?? {};
  const problem = reasonOf(cause);
  const because = problem === undefined ? '' : `: ${problem}`;
  const isUnknown = fieldOfError(unasked, 'code') === 'no_payment';
  const both = isUnknown ? ', and the service has no payment with this reference' : '';
  const reason = (message === undefined ? REASONS[outcome]! : message + because) + both;
  return { order: order as Order | null, payment, outcome, reason, ...(error && { error }) };
}
