/** The outcomes of a run, and the one function that decides whether an order is credited. */
import { isWebhookError, type WebhookError } from '@paylink/core';
import { cutReference, faultOfReference, logLine } from '@paylink/core/internal';
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
  type Row,
} from './order.js';
import type { Run } from './run.js';

/** The result of a run. */
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

const WORDS: Readonly<Record<string, string>> = {
  pending: 'is pending',
  failed: 'failed',
  cancelled: 'was cancelled',
};

/** Credits the order of a payment that succeeded, unless the order's row says that it is paid. */
export async function settleOrder(settings: Settings, run: Run, hold: Hold): Promise<Verdict> {
  const { decided, payment } = await inspectOrder(settings, run);
  const verdict = decided ?? (await creditOrder(settings, run, hold, payment!));
  if (TRANSLATIONS[verdict.outcome].settle === 'paid') settings.forget(run);
  return verdict;
}

/**
 * Finds the order, asks the service and compares both. Never writes. `decided` is undefined if the
 * order is to be credited.
 */
async function inspectOrder(settings: Settings, run: Run) {
  let order: Row | undefined;
  let payment: ServicePayment | undefined;
  const decide = (verdict: Verdict | undefined) => ({
    order,
    payment,
    decided: verdict && { ...verdict, payment },
  });
  try {
    order = await findOrder(settings, run);
    if (order.paid === true) return decide({ outcome: 'paid' });
    const expected = checkOrder(order);
    payment = await settings.askerOf(run.tenant).ask(run);
    const { status } = payment;
    if (status !== 'success') {
      // It has signed a success to a webhook, so its API lags or a person must look.
      const error = runError(
        'payment_pending',
        `the service says that the payment ${WORDS[status]}`,
      );
      return decide({ outcome: status as Outcome, error });
    }
    const difference = differenceOf(expected, payment);
    if (difference !== undefined) throw runError('amount_differs', difference);
    if (!expected.closed) return decide(undefined);
    const problem = 'the payment succeeded after the order was closed: credit it, or pay it back';
    throw runError('order_closed', problem);
  } catch (error) {
    return decide(refusal(error));
  }
}

/**
 * @throws WebhookError `unknown_order`, `invalid_order`, `orders_unavailable` or `handler_timeout`
 */
export async function findOrder({ orders }: Settings, run: Run): Promise<Row> {
  const { reference, tenant, signal } = run;
  const fault = faultOfReference(reference);
  if (fault !== undefined) throw runError('unknown_order', `the reference ${fault}`);
  let fields: unknown;
  try {
    const row = await run.wait('find()', () => orders.find(reference, { tenant, signal }));
    // A getter of an entity can throw.
    fields = readFields(row);
  } catch (cause) {
    throw stepError(run, cause);
  }
  return toRow(fields, reference);
}

/** Makes the error of a step that threw, or that took too long. */
function stepError({ step, error }: Run, cause: unknown): WebhookError {
  return error ?? runError('orders_unavailable', `${step} threw`, cause);
}

/** Calls `credit`, and believes only the row. */
async function creditOrder(
  settings: Settings,
  run: Run,
  hold: Hold,
  payment: ServicePayment,
): Promise<Verdict> {
  const { orders } = settings;
  const { reference, tenant, signal, source } = run;
  const confirmed = { reference, amount: payment.amount!, currency: payment.currency! };
  let crediting: Promise<unknown> | undefined;
  let order: Row;
  let returned: unknown;
  let failure: WebhookError | undefined;
  try {
    returned = await run.wait('credit()', () => {
      crediting = Promise.resolve(orders.credit(confirmed, { tenant, signal, source }));
      hold.keepFor(crediting);
      return crediting;
    });
  } catch (error) {
    failure = stepError(run, error);
    if (run.error !== undefined) {
      crediting?.catch((cause: unknown) =>
        logCreditError(settings, run, 'after the run had ended', cause),
      );
      return { ...refusal(failure), payment };
    }
  }
  try {
    order = await findOrder(settings, run);
    if (order.paid !== true) {
      checkOrder(order);
      throw failure ?? notCredited(returned);
    }
  } catch (error) {
    if (failure !== undefined && error !== failure) {
      const problem = 'and find() cannot tell whether the order is paid';
      logCreditError(settings, run, problem, failure.cause);
    }
    return { ...refusal(error), payment };
  }
  reportCredit(settings, run, failure, returned);
  if (order.closed === true) {
    const problem = 'was closed while Paylink asked the service, and is paid now: ship it, or pay';
    const hint = '`credit` must write only while the order is open';
    logError(settings, run, runError('order_closed', `the order ${problem} it back. ${hint}`));
  }
  const isFirst = returned !== 0 && returned !== 0n;
  return { outcome: isFirst ? 'credited' : 'paid', payment };
}

function notCredited(returned: unknown): WebhookError {
  const isNone = returned === 0 || returned === 0n;
  const causes = isNone
    ? 'credit() changed no row. Look for a condition that does not match this order: amount, ' +
      'currency, tenant, or a column that is not NULL'
    : 'credit() returned. Look for a missing `await` or COMMIT, a write to another table or ' +
      'database, a trigger, rule, view or policy that swallows the write, or a replica that lags';
  return runError('not_credited', `find() still says unpaid after ${causes}`);
}

function logCreditError(settings: Settings, run: Run, problem: string, cause: unknown): void {
  logError(settings, run, runError('orders_unavailable', `credit() threw, ${problem}`, cause));
}

export function logError({ logger }: Settings, run: Run, error: WebhookError): void {
  const { code, status } = error;
  const reference = cutReference(run.reference);
  logger.error(logLine(error, run), { code, status, reference, error });
}

/** Logs what the merchant must know although the order is paid. */
function reportCredit(
  settings: Settings,
  run: Run,
  failure: WebhookError | undefined,
  returned: unknown,
): void {
  const { logger, isNews } = settings;
  const reference = cutReference(run.reference);
  if (failure !== undefined) {
    const problem = 'and the order is paid. Writes behind the first may be missing';
    logCreditError(settings, run, problem, failure.cause);
  } else if (typeof returned !== 'number' && typeof returned !== 'bigint' && returned !== null) {
    if (!isNews('what credit() returned')) return;
    const kind = returned === undefined ? 'nothing' : `a ${typeof returned}`;
    logger.warn(
      `[paylink] credit() returned ${kind} instead of the number of changed rows, or null if the ` +
        'driver does not know it',
    );
  } else if (returned !== null && returned > 1) {
    logger.error(
      `[paylink] credit() changed ${returned} rows for the order ${JSON.stringify(reference)}: ` +
        'several orders have one reference, and one payment has paid them all. Add a unique index',
      { code: 'not_credited', reference },
    );
  }
}

const REASONS: Readonly<Partial<Record<Outcome, string>>> = {
  credited: 'the order is unpaid, and the payment succeeded with its amount and currency',
  paid: 'the order says that it is paid',
};

export async function explain(settings: Settings, run: Run): Promise<Explanation> {
  const { order = null, payment, decided } = await inspectOrder(settings, run);
  const { outcome, error } = decided ?? { outcome: 'credited' as const };
  const isFinal =
    ['no_payment', 'confirm_unavailable', 'handler_timeout'].includes(outcome) ||
    faultOfReference(run.reference) !== undefined;
  let answer = payment;
  let unasked: unknown;
  try {
    answer ??= isFinal ? undefined : await settings.askerOf(run.tenant).ask(run);
  } catch (thrown) {
    unasked = thrown;
  }
  if (answer?.status === 'success') settings.forget(run);
  const { message, cause } = error ?? {};
  const problem = fieldOfError(cause, 'message');
  const because = typeof problem === 'string' ? `: ${problem}` : '';
  const isUnknown = fieldOfError(unasked, 'code') === 'no_payment';
  const both = isUnknown ? ', and the service has no payment of this reference' : '';
  const reason = (message === undefined ? REASONS[outcome]! : message + because) + both;
  const row = order as Order | null;
  return { order: row, payment: answer ?? null, outcome, reason, ...(error && { error }) };
}
