/** The outcomes of a run, and the one function that decides whether an order is credited. */
import { isWebhookError, WebhookError } from '@paylink/core';
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
import { checkOrder, differenceOf, fieldOfError, readFields, toRow, type Row } from './order.js';
import type { Run } from './run.js';

/** The end of a run. */
export interface Verdict {
  readonly outcome: Outcome;
  /** What the webhook throws. Absent if the webhook acknowledges. */
  readonly error?: WebhookError;
  /** The service's answer, if the run has asked. */
  readonly payment?: ServicePayment | undefined;
}

/** The lists of a report of `reconcile`. */
type ReconcileList = Exclude<keyof ReconcileReport, 'total' | 'keyRefused' | 'cursor'>;

interface Translation {
  /** The webhook throws an error of this code, or acknowledges. */
  readonly webhook: string | undefined;
  readonly settle: Settled['status'];
  readonly reconcile: ReconcileList;
}

const TRANSLATIONS: Readonly<Record<Outcome, Translation>> = {
  credited: { webhook: undefined, settle: 'paid', reconcile: 'credited' },
  paid: { webhook: undefined, settle: 'paid', reconcile: 'paid' },
  pending: { webhook: 'payment_pending', settle: 'pending', reconcile: 'pending' },
  no_payment: { webhook: 'no_payment', settle: 'unknown', reconcile: 'noPayment' },
  failed: { webhook: undefined, settle: 'failed', reconcile: 'failed' },
  cancelled: { webhook: undefined, settle: 'cancelled', reconcile: 'cancelled' },
  unknown_order: { webhook: 'unknown_order', settle: 'unknown', reconcile: 'errors' },
  order_closed: { webhook: 'order_closed', settle: 'closed', reconcile: 'errors' },
  amount_differs: { webhook: 'amount_differs', settle: 'differs', reconcile: 'errors' },
  not_credited: { webhook: 'not_credited', settle: 'unavailable', reconcile: 'errors' },
  invalid_order: { webhook: 'invalid_order', settle: 'unavailable', reconcile: 'errors' },
  orders_unavailable: { webhook: 'orders_unavailable', settle: 'unavailable', reconcile: 'errors' },
  confirm_unavailable: {
    webhook: 'confirm_unavailable',
    settle: 'unavailable',
    reconcile: 'errors',
  },
  handler_timeout: { webhook: 'handler_timeout', settle: 'unavailable', reconcile: 'errors' },
};

const OUTCOMES = Object.keys(TRANSLATIONS) as Outcome[];

/** @throws the error, unless the outcome means that the notification needs nothing more */
export function acknowledge({ outcome, error }: Verdict): void {
  if (TRANSLATIONS[outcome].webhook !== undefined) throw error!;
}

export function toStatus({ outcome }: Verdict): Settled['status'] {
  return TRANSLATIONS[outcome].settle;
}

export function toList({ outcome }: Verdict): ReconcileList {
  return TRANSLATIONS[outcome].reconcile;
}

/** Makes the verdict of an error that a step of the run threw. Rethrows a fault of our own code. */
export function refusal(error: unknown): Verdict & { readonly error: WebhookError } {
  if (!isWebhookError(error)) throw error;
  const outcome = OUTCOMES.find((each) => TRANSLATIONS[each].webhook === error.code);
  if (outcome === undefined) throw error;
  return { outcome, error };
}

/** Credits the order of a payment that succeeded, unless the order's row says that it is paid. */
export async function settleOrder(settings: Settings, run: Run): Promise<Verdict> {
  const { decided, payment } = await inspectOrder(settings, run);
  return decided ?? creditOrder(settings, run, payment!);
}

/** What is known of an order before anything is written. */
export interface Inspection {
  readonly order: Row | undefined;
  readonly payment: ServicePayment | undefined;
  /** Undefined if the order is to be credited. */
  readonly decided: Verdict | undefined;
}

/** Finds the order, asks the service and compares both. Never writes. */
export async function inspectOrder(settings: Settings, run: Run): Promise<Inspection> {
  let order: Row | undefined;
  let payment: ServicePayment | undefined;
  const decide = (verdict: Verdict | undefined): Inspection => ({
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
    if (status === 'failed' || status === 'cancelled') return decide({ outcome: status });
    if (status === 'pending') {
      const message = 'the service says that the payment is pending';
      throw new WebhookError('payment_pending', { message });
    }
    const message = differenceOf(expected, payment);
    if (message !== undefined) throw new WebhookError('amount_differs', { message });
    if (!expected.closed) return decide(undefined);
    const closed = 'the payment succeeded after the order was closed: credit it, or pay it back';
    throw new WebhookError('order_closed', { message: closed });
  } catch (error) {
    return decide(refusal(error));
  }
}

/**
 * Reads the order's row.
 *
 * @throws WebhookError `unknown_order`, `invalid_order`, `orders_unavailable`, `handler_timeout`
 */
export async function findOrder({ orders }: Settings, run: Run): Promise<Row> {
  const { reference, tenant, signal } = run;
  const fault = faultOfReference(reference);
  if (fault !== undefined) {
    throw new WebhookError('unknown_order', { message: `the reference ${fault}` });
  }
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
function stepError({ step, signal }: Run, cause: unknown): WebhookError {
  if (signal.aborted) return signal.reason as WebhookError;
  return new WebhookError('orders_unavailable', { message: `${step} threw`, cause });
}

/** Calls `credit`, and believes only the row. */
async function creditOrder(
  settings: Settings,
  run: Run,
  payment: ServicePayment,
): Promise<Verdict> {
  const { orders } = settings;
  const { reference, tenant, signal, source } = run;
  const confirmed = { reference, amount: payment.amount!, currency: payment.currency! };
  let crediting: Promise<unknown> | undefined;
  let returned: unknown;
  let failure: WebhookError | undefined;
  try {
    returned = await run.wait('credit()', () => {
      crediting = Promise.resolve(orders.credit(confirmed, { tenant, signal, source }));
      return crediting;
    });
  } catch (error) {
    failure = stepError(run, error);
    if (signal.aborted) {
      run.unfinished = crediting;
      crediting?.catch((cause: unknown) =>
        logCreditError(settings, run, 'after the run had ended', cause),
      );
      return { ...refusal(failure), payment };
    }
  }
  try {
    const order = await findOrder(settings, run);
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
  return new WebhookError('not_credited', { message: `find() still says unpaid after ${causes}` });
}

function logCreditError(
  { logger }: Settings,
  { reference, source }: Run,
  problem: string,
  cause: unknown,
): void {
  const message = `credit() threw, ${problem}`;
  const error = new WebhookError('orders_unavailable', { message, cause });
  logger.error(logLine(error, { reference, source }), {
    code: error.code,
    reference: cutReference(reference),
  });
}

/** Logs what the merchant must know although the order is paid. */
function reportCredit(
  settings: Settings,
  run: Run,
  failure: WebhookError | undefined,
  returned: unknown,
): void {
  const { logger, isNews } = settings;
  const { reference } = run;
  const order = JSON.stringify(reference.slice(0, 200));
  if (failure !== undefined) {
    const problem = 'and the order is paid. Writes behind the first may be missing';
    logCreditError(settings, run, problem, failure.cause);
  } else if (typeof returned !== 'number' && typeof returned !== 'bigint' && returned !== null) {
    if (!isNews('what credit() returned')) return;
    logger.warn(
      `[paylink] credit() returned ${returned === undefined ? 'nothing' : `a ${typeof returned}`} ` +
        'instead of the number of changed rows, or null if the driver does not know it',
    );
  } else if (returned !== null && returned > 1) {
    logger.error(
      `[paylink] credit() changed ${returned} rows for the order ${order}: several orders have ` +
        'one reference, and one payment has paid them all. Add a unique index',
      { code: 'not_credited', reference: cutReference(reference) },
    );
  }
}

const REASONS: Readonly<Partial<Record<Outcome, string>>> = {
  credited: 'the order is unpaid, and the payment succeeded with its amount and currency',
  paid: 'the order says that it is paid',
  failed: 'the service says that the payment failed',
  cancelled: 'the service says that the payment was cancelled',
};

export async function explain(settings: Settings, run: Run): Promise<Explanation> {
  const { order = null, payment, decided } = await inspectOrder(settings, run);
  const { outcome, error } = decided ?? { outcome: 'credited' as const };
  const isFinal =
    ['no_payment', 'confirm_unavailable', 'handler_timeout'].includes(outcome) ||
    faultOfReference(run.reference) !== undefined;
  const asking = async () => settings.askerOf(run.tenant).ask(run);
  const answer = payment ?? (isFinal ? undefined : await asking().catch(() => undefined));
  const { message, cause } = error ?? {};
  const problem = fieldOfError(cause, 'message');
  const because = typeof problem === 'string' ? `: ${problem}` : '';
  const reason = message === undefined ? REASONS[outcome]! : message + because;
  const known = { order: order as Order | null, payment: answer ?? null, outcome, reason };
  return error === undefined ? known : { ...known, error };
}
