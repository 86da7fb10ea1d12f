/** The three ways to one credit, and `explain`. */
import { WebhookError } from '@paylink/core';
import {
  checkSignal,
  cutReference,
  faultOfReference,
  logLine,
  validateBound,
  validateOptions,
  withinBounds,
} from '@paylink/core/internal';
import { NotAsked } from './asker.js';
import type { Explanation, Order, Outcome, Payments, PaymentsOptions } from './contract.js';
import { validateSettings, type Settings } from './options.js';
import { field, fieldOfError, keyOf } from './order.js';
import { acknowledge, refusal, toList, toStatus, type Verdict } from './outcome.js';
import { now } from './pace.js';
import { reconcile, verify } from './reconcile.js';
import { Runs } from './runs.js';
import { createTask, inspectOrder, type Task } from './settle-order.js';

/**
 * Configures the credit of orders, in one place for notifications, return page and schedule.
 *
 * @throws ConfigurationError that names the option
 */
export function createPayments(options: PaymentsOptions): Payments {
  const settings = validateSettings(options);
  const runs = new Runs(settings);
  const settle = (task: Task): Promise<Verdict> =>
    reported(settings, task, () => runs.settle(task));
  return Object.freeze<Payments>({
    async receive(event, context = {}) {
      const order = orderOfEvent(settings, event);
      const signal = field(context, 'signal');
      checkSignal(signal);
      const task = createTask({ ...order, source: 'webhook', end: now() + settings.timeout });
      acknowledge(await untilAborted(signal, undefined, () => settle(task)));
    },

    async settle(reference, call = {}) {
      const own = validateOptions(call, ['tenant', 'signal', 'wait']);
      const { signal, wait = 3_000 } = own;
      const tenant = settings.tenantOf(own.tenant);
      checkSignal(signal);
      validateBound('wait', wait, 0);
      const end = now() + settings.timeout;
      const task = createTask({ reference: textOf(reference), tenant, source: 'settle', end });
      const verdict = await untilAborted(signal, wait, () => settle(task));
      const { payment } = verdict;
      return { status: toStatus(verdict), ...(payment !== undefined && { payment }) };
    },

    reconcile: (references, call) => reconcile(settings, settle, references, call),
    verify: (references, call) => verify(settings, references, call),

    async explain(reference, call = {}) {
      const own = validateOptions(call, ['tenant', 'signal']);
      const tenant = settings.tenantOf(own.tenant);
      checkSignal(own.signal);
      const end = now() + settings.timeout;
      const task = createTask({ reference: textOf(reference), tenant, source: 'settle', end });
      return withinBounds(explain(settings, task), { signals: [own.signal] });
    },
  });
}

/** A query such as `?reference[]=x` is no string. Then the blank reference is of no order. */
function textOf(reference: unknown): string {
  return typeof reference === 'string' ? reference : '';
}

/** @throws WebhookError `misconfigured` */
function orderOfEvent(
  { tenantOf }: Settings,
  event: unknown,
): { readonly reference: string; readonly tenant: string | null } {
  const misconfigured = (message: string): WebhookError =>
    new WebhookError('misconfigured', { message });
  if (field(event, 'type') !== 'payment.succeeded') {
    const problem = 'payments.receive takes payment.succeeded alone';
    throw misconfigured(`${problem}: pass a map with a handler for each other kind`);
  }
  const reference = field(event, 'reference');
  const fault = faultOfReference(reference);
  if (fault !== undefined) throw misconfigured(`\`reference\` of the event ${fault}`);
  try {
    return { reference: reference as string, tenant: tenantOf(field(event, 'tenant')) };
  } catch (cause) {
    throw misconfigured(`${(cause as Error).message}: the \`secret\` function must return it`);
  }
}

/** Ends the caller's wait after `wait` milliseconds or on abort. The work goes on. */
async function untilAborted(
  signal: AbortSignal | undefined,
  wait: number | undefined,
  work: () => Promise<Verdict>,
): Promise<Verdict> {
  const stopped = (message: string, cause?: unknown): WebhookError =>
    new WebhookError('handler_timeout', { message, cause });
  if (signal?.aborted === true) {
    return refusal(stopped('the caller had stopped waiting before the run began', signal.reason));
  }
  const reason = (aborted: AbortSignal | undefined): WebhookError =>
    stopped('the caller stopped waiting, and the run goes on', aborted?.reason);
  return withinBounds(work(), { milliseconds: wait, signals: [signal], reason }).catch(refusal);
}

/** Milliseconds for which a page that polls does not repeat a log line. */
const LOGGED_FOR = 60_000;

/** Runs `work`, and tells `observe` and the logger how it ended. */
async function reported(
  { observe, logger, isNews }: Settings,
  task: Task,
  work: () => Promise<Verdict>,
): Promise<Verdict> {
  const { source, reference, tenant } = task;
  const started = now();
  const verdict = await work();
  const { outcome, error } = verdict;
  const tell = async (): Promise<unknown> =>
    observe?.({ source, outcome, reference, tenant, durationMs: now() - started });
  tell().catch(() => undefined);
  if (error !== undefined && isForPeople(task, verdict)) {
    const { code, status } = error;
    // A stranger can ask a page for many orders while the database or the service is away.
    const about = code.endsWith('_unavailable') || code === 'handler_timeout' ? '' : keyOf(task);
    const isRepeated = source === 'settle' && !isNews(`${code} ${about}`, LOGGED_FOR);
    if (isRepeated) return verdict;
    const fields = { code, status, reference: cutReference(reference) };
    logger.error(logLine(error, { reference, source }), fields);
  }
  return verdict;
}

/** The receiver logs what a webhook throws. A stranger can ask a page for unknown orders. */
function isForPeople({ source }: Task, verdict: Verdict): boolean {
  if (source === 'reconcile') {
    return toList(verdict) === 'errors' && !(verdict.error instanceof NotAsked);
  }
  return source === 'settle' && ['unavailable', 'closed', 'differs'].includes(toStatus(verdict));
}

const REASONS: Readonly<Partial<Record<Outcome, string>>> = {
  credited: 'the order is unpaid, and the payment succeeded with its amount and currency',
  paid: 'the order says that it is paid',
  failed: 'the service says that the payment failed',
  cancelled: 'the service says that the payment was cancelled',
};

async function explain(settings: Settings, task: Task): Promise<Explanation> {
  const { order = null, payment, decided } = await inspectOrder(settings, task);
  const { outcome, error } = decided ?? { outcome: 'credited' as const };
  const isFinal =
    ['no_payment', 'confirm_unavailable', 'handler_timeout'].includes(outcome) ||
    faultOfReference(task.reference) !== undefined;
  const answer =
    payment ?? (isFinal ? undefined : await ask(settings, task).catch(() => undefined));
  const { message, cause } = error ?? {};
  const problem = fieldOfError(cause, 'message');
  const because = typeof problem === 'string' ? `: ${problem}` : '';
  const reason = message === undefined ? REASONS[outcome]! : message + because;
  const known = { order: order as Order | null, payment: answer ?? null, outcome, reason };
  return error === undefined ? known : { ...known, error };
}

async function ask({ askerOf }: Settings, task: Task) {
  return askerOf(task.tenant).ask(task);
}
