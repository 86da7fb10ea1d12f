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
import { NotAsked } from './answer.js';
import type { Explanation, Order, Outcome, Payments, PaymentsOptions, Source } from './contract.js';
import { validateSettings, type Settings } from './options.js';
import { field, fieldOfError } from './order.js';
import { acknowledge, refusal, toList, toStatus, type Verdict } from './outcome.js';
import { now } from './pace.js';
import { reconcile, verify } from './reconcile.js';
import { Run, type Call } from './run.js';
import { Runs } from './runs.js';
import { inspectOrder } from './settle-order.js';

/**
 * Configures the credit of orders, in one place for notifications, return page and schedule.
 *
 * @throws ConfigurationError that names the option
 */
export function createPayments(options: PaymentsOptions): Payments {
  const settings = validateSettings(options);
  const runs = new Runs(settings);
  const { timeout } = settings;
  const settle = async (run: Run): Promise<Verdict> => {
    const { start } = run;
    const verdict = await runs.settle(run);
    run.stop();
    report(settings, run, verdict, now() - start);
    return verdict;
  };
  return Object.freeze<Payments>({
    async receive(event, context = {}) {
      const call = callOfEvent(settings, event);
      const signal = field(context, 'signal');
      checkSignal(signal);
      const work = () => settle(new Run(call, timeout));
      acknowledge(await untilAborted(signal, timeout + LEFT_TO_RUN, work));
    },

    async settle(reference, options = {}) {
      const own = validateOptions(options, ['tenant', 'signal', 'wait']);
      const { signal, wait = 3_000 } = own;
      const call = callOf(settings, reference, own.tenant);
      checkSignal(signal);
      validateBound('wait', wait, 0);
      const work = () => settle(new Run(call, timeout));
      const verdict = await untilAborted(signal, wait, work);
      const { payment } = verdict;
      return { status: toStatus(verdict), ...(payment !== undefined && { payment }) };
    },

    reconcile: (references, call) => reconcile(settings, settle, references, call),
    verify: (references, call) => verify(settings, references, call),

    async explain(reference, options = {}) {
      const own = validateOptions(options, ['tenant', 'signal']);
      const run = new Run(callOf(settings, reference, own.tenant), timeout);
      checkSignal(own.signal);
      const explaining = explain(settings, run).finally(() => run.stop());
      const milliseconds = timeout + LEFT_TO_RUN;
      return withinBounds(explaining, { milliseconds, signals: [own.signal] });
    },
  });
}

function callOf({ tenantOf }: Settings, reference: unknown, tenant: unknown): Call {
  // A query such as `?reference[]=x` is no string. Then the blank reference is of no order.
  const text = typeof reference === 'string' ? reference : '';
  return { reference: text, tenant: tenantOf(tenant), source: 'settle' };
}

/** @throws WebhookError `misconfigured` */
function callOfEvent({ tenantOf }: Settings, event: unknown): Call {
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
    const tenant = tenantOf(field(event, 'tenant'));
    return { reference: reference as string, tenant, source: 'webhook' };
  } catch (cause) {
    throw misconfigured(`${(cause as Error).message}: the \`secret\` function must return it`);
  }
}

/** Ends the caller's wait after `wait` milliseconds or on abort. The work goes on. */
async function untilAborted(
  signal: AbortSignal | undefined,
  wait: number,
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

/** Milliseconds after a run's time, so that the run itself says why it ended. */
const LEFT_TO_RUN = 1_000;
/** Milliseconds for which a page that polls does not repeat a log line. */
const LOGGED_FOR = 60_000;

/** Tells `observe` and the logger how a run ended. */
function report(settings: Settings, run: Run, verdict: Verdict, durationMs: number): void {
  const { observe, logger, isNews } = settings;
  const { source, reference, tenant } = run;
  const { outcome, error } = verdict;
  if (observe !== undefined) {
    const tell = async (): Promise<unknown> =>
      observe({ source, outcome, reference, tenant, durationMs });
    tell().catch(() => undefined);
  }
  if (error === undefined || !isForPeople(source, verdict)) return;
  const { code, status } = error;
  // A stranger can ask a page for many orders while the database or the service is away.
  const about = code.endsWith('_unavailable') || code === 'handler_timeout' ? '' : run.key;
  if (source === 'settle' && !isNews(`${code} ${about}`, LOGGED_FOR)) return;
  const fields = { code, status, reference: cutReference(reference) };
  logger.error(logLine(error, { reference, source }), fields);
}

/** The receiver logs what a webhook throws. A stranger can ask a page for unknown orders. */
function isForPeople(source: Source, verdict: Verdict): boolean {
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

async function explain(settings: Settings, run: Run): Promise<Explanation> {
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
