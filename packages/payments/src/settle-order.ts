/** The one function that decides whether an order is credited. */
import { WebhookError } from '@paylink/core';
import { cutReference, faultOfReference, logLine, withinBounds } from '@paylink/core/internal';
import { rankOf, type Asked, type Asker } from './asker.js';
import type { FindContext, ServicePayment } from './contract.js';
import type { Settings } from './options.js';
import { checkOrder, differenceOf, readFields, toRow, type Row } from './order.js';
import { refusal, type Verdict } from './outcome.js';
import { now } from './pace.js';

/** A run for one order, or one look at it. */
export interface Task extends Asked {
  /** Aborts when a step has taken too long. */
  readonly controller: AbortController;
  /** What the run waits for, for people. */
  step: string;
  /** Set when the run asks the service. */
  asker: Asker | undefined;
}

/** Returns the task of a caller who comes now, and gives up at `end`. */
export function createTask(asked: Omit<Asked, 'start' | 'rank'>): Task {
  const state = { rank: rankOf(asked.source), step: 'find()', asker: undefined };
  return { ...asked, ...state, start: now(), controller: new AbortController() };
}

/** The result of a run. */
export interface Ended {
  readonly verdict: Verdict;
  /** A `credit` that is still running after the run's time. Nothing of it is known. */
  readonly unfinished?: Promise<unknown> | undefined;
}

/** Credits the order of a payment that succeeded, unless the order's row says that it is paid. */
export async function settleOrder(settings: Settings, task: Task): Promise<Ended> {
  const { decided, payment } = await inspectOrder(settings, task);
  if (decided !== undefined) return { verdict: decided };
  return creditOrder(settings, task, payment!);
}

/** What is known of an order before anything is written. */
export interface Inspection {
  readonly order: Row | undefined;
  readonly payment: ServicePayment | undefined;
  /** Undefined if the order is to be credited. */
  readonly decided: Verdict | undefined;
}

/** Finds the order, asks the service and compares both. Never writes. */
export async function inspectOrder(settings: Settings, task: Task): Promise<Inspection> {
  let order: Row | undefined;
  let payment: ServicePayment | undefined;
  const decide = (verdict: Verdict | undefined): Inspection => ({
    order,
    payment,
    decided: verdict && { ...verdict, payment },
  });
  try {
    order = await findOrder(settings, task);
    if (order.paid === true) return decide({ outcome: 'paid' });
    const expected = checkOrder(order);
    task.asker = settings.askerOf(task.tenant);
    task.step = 'the service';
    payment = await task.asker.ask(task);
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
export async function findOrder({ orders, timeout }: Settings, task: Task): Promise<Row> {
  const { reference } = task;
  const fault = faultOfReference(reference);
  if (fault !== undefined) {
    throw new WebhookError('unknown_order', { message: `the reference ${fault}` });
  }
  const row = await step(task, timeout, 'find', (context) => orders.find(reference, context));
  let fields: ReturnType<typeof readFields>;
  try {
    fields = readFields(row);
  } catch (cause) {
    // A getter of an entity threw.
    throw unavailable('find', cause);
  }
  return toRow(fields, reference);
}

/** Calls `credit`, and believes only the row. */
async function creditOrder(
  settings: Settings,
  task: Task,
  payment: ServicePayment,
): Promise<Ended> {
  const { orders, timeout } = settings;
  const { reference, source } = task;
  const confirmed = { reference, amount: payment.amount!, currency: payment.currency! };
  let crediting: Promise<unknown> | undefined;
  let returned: unknown;
  let failure: WebhookError | undefined;
  try {
    returned = await step(task, timeout, 'credit', async (context) => {
      crediting = (async () => orders.credit(confirmed, { ...context, source }))();
      return crediting;
    });
  } catch (error) {
    failure = error as WebhookError;
    const isLate = task.controller.signal.aborted;
    if (isLate) {
      crediting?.catch((cause: unknown) =>
        logCreditError(settings, task, 'after the run had ended', cause),
      );
      return { verdict: { ...refusal(failure), payment }, unfinished: crediting };
    }
  }
  try {
    const order = await findOrder(settings, task);
    if (order.paid !== true) {
      checkOrder(order);
      throw failure ?? notCredited(returned);
    }
  } catch (error) {
    if (failure !== undefined && error !== failure) {
      const problem = 'and find() cannot tell whether the order is paid';
      logCreditError(settings, task, problem, failure.cause);
    }
    return { verdict: { ...refusal(error), payment } };
  }
  reportCredit(settings, task, failure, returned);
  const isFirst = returned !== 0 && returned !== 0n;
  return { verdict: { outcome: isFirst ? 'credited' : 'paid', payment } };
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
  { reference, source }: Task,
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
  task: Task,
  failure: WebhookError | undefined,
  returned: unknown,
): void {
  const { logger, isNews } = settings;
  const { reference } = task;
  const order = JSON.stringify(reference.slice(0, 200));
  if (failure !== undefined) {
    const problem = 'and the order is paid. Writes behind the first may be missing';
    logCreditError(settings, task, problem, failure.cause);
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

/** Runs a function of the merchant for at most the rest of the run's time. */
async function step<T>(
  task: Task,
  timeout: number,
  name: string,
  work: (context: FindContext) => PromiseLike<T> | T,
): Promise<T> {
  const { tenant, source, end, controller } = task;
  task.step = `${name}()`;
  // A run of the schedule may wait in line for longer than `timeout`, so its steps count alone.
  const milliseconds = source === 'reconcile' ? timeout : Math.max(1, end - now());
  const { signal } = controller;
  const reason = (): unknown => {
    const message = `${name}() did not settle in the ${Math.ceil(milliseconds)} ms that were left`;
    controller.abort(new WebhookError('handler_timeout', { message }));
    return signal.reason as unknown;
  };
  try {
    const working = (async () => work({ tenant, signal }))();
    return await withinBounds(working, { milliseconds, reason });
  } catch (cause) {
    throw signal.aborted ? (signal.reason as WebhookError) : unavailable(name, cause);
  }
}

function unavailable(name: string, cause: unknown): WebhookError {
  return new WebhookError('orders_unavailable', { message: `${name}() threw`, cause });
}
