/** The three ways to one credit, and the one run per tenant and order that they share. */
import type { WebhookError } from '@paylink/core';
import {
  checkSignal,
  faultOfReference,
  validateBound,
  validateOptions,
  withinBounds,
} from '@paylink/core/internal';
import { NotAsked } from './answer.js';
import type { Outcome, Payments, PaymentsOptions, Source } from './contract.js';
import { validateSettings, type Settings } from './options.js';
import { field, runError } from './order.js';
import { reconcile, verify } from './reconcile.js';
import { now, Run, type Call } from './run.js';
import {
  explain,
  findOrder,
  logError,
  refusal,
  settleOrder,
  TRANSLATIONS,
  type Verdict,
} from './settle-order.js';

/**
 * Configures the credit of orders, in one place for notifications, return page and schedule.
 *
 * @throws ConfigurationError that names the option
 */
export function createPayments(options: PaymentsOptions): Payments {
  const settings = validateSettings(options);
  const settleOnce = createRuns(settings);
  const { timeout } = settings;
  const settle = async (run: Run): Promise<Verdict> => {
    const { start } = run;
    const verdict = await settleOnce(run);
    run.stop();
    observeRun(settings, run, verdict.outcome, now() - start);
    logVerdict(settings, run, verdict);
    return verdict;
  };
  /** Ends the caller's wait after `wait` milliseconds or on abort. The run goes on. */
  const settleWithin = async (call: Call, signal: unknown, wait: number): Promise<Verdict> => {
    checkSignal(signal);
    const run = new Run(call, timeout);
    const stopped = (message: string, cause: unknown): WebhookError =>
      runError('handler_timeout', `the caller ${message}`, cause);
    if (signal?.aborted === true) {
      observeRun(settings, run, 'handler_timeout', 0);
      return refusal(stopped('had stopped waiting before the run began', signal.reason));
    }
    const reason = (aborted: AbortSignal | undefined): WebhookError =>
      stopped('stopped waiting, and the run goes on', aborted?.reason);
    const bounds = { milliseconds: wait, signals: [signal], reason };
    return withinBounds(settle(run), bounds).catch(refusal);
  };
  return Object.freeze<Payments>({
    async receive(event, context = {}) {
      const call = callOfEvent(settings, event);
      const signal = field(context, 'signal');
      const { error } = await settleWithin(call, signal, timeout + LEFT_TO_RUN);
      if (error !== undefined) throw error;
    },

    async settle(reference, options = {}) {
      const own = validateOptions(options, ['tenant', 'signal', 'wait']);
      const { signal, wait = 3_000 } = own;
      const call = callOf(settings, reference, own.tenant);
      validateBound('wait', wait, 0);
      const verdict = await settleWithin(call, signal, wait);
      const { outcome, payment } = verdict;
      return { status: TRANSLATIONS[outcome].settle, ...(payment && { payment }) };
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
  // A query such as `?reference[]=x` gives an array. No order has the blank reference.
  const text = typeof reference === 'string' ? reference : '';
  return { reference: text, tenant: tenantOf(tenant), source: 'settle' };
}

/** @throws WebhookError `misconfigured` */
function callOfEvent({ tenantOf }: Settings, event: unknown): Call {
  const misconfigured = (message: string): WebhookError => runError('misconfigured', message);
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

/** Milliseconds after a run's time, so that the run itself says why it ended. */
const LEFT_TO_RUN = 1_000;
/** Milliseconds for which a page that polls does not repeat a log line. */
const LOGGED_FOR = 60_000;

function observeRun({ observe }: Settings, run: Run, outcome: Outcome, durationMs: number): void {
  const { source, reference, tenant } = run;
  const ended = { source, outcome, reference, tenant, durationMs };
  (async () => observe?.(ended))().catch(() => undefined);
}

function logVerdict(settings: Settings, run: Run, verdict: Verdict): void {
  const { source, key } = run;
  const { error } = verdict;
  if (error === undefined || !isForPeople(source, verdict)) return;
  const { code } = error;
  // A stranger can ask a page for many orders while the database or the service is away.
  const about = code.endsWith('_unavailable') || code === 'handler_timeout' ? '' : key;
  if (source === 'settle' && !settings.isNews(`${code} ${about}`, LOGGED_FOR)) return;
  logError(settings, run, error);
}

/** The receiver logs what a webhook throws. A stranger can ask a page for unknown orders. */
function isForPeople(source: Source, { outcome, error }: Verdict): boolean {
  const { settle, reconcile: list } = TRANSLATIONS[outcome];
  if (source === 'reconcile') return list === 'errors' && !(error instanceof NotAsked);
  return source === 'settle' && ['unavailable', 'closed', 'differs'].includes(settle);
}

/** Milliseconds for which a `credit` that does not settle keeps its order's place. */
const LONGEST_CREDIT = 300_000;

/** The place of an order, which one run holds. */
interface Place {
  readonly run: Run;
  readonly verdict: Promise<Verdict>;
}

/** Returns a function that settles the order of a run, or waits for the run that does. */
function createRuns(settings: Settings): (caller: Run) => Promise<Verdict> {
  const places = new Map<string, Place>();

  function settle(caller: Run): Promise<Verdict> {
    const place = places.get(caller.key);
    const isFree = place === undefined || place.run.isDead;
    return isFree ? start(caller) : join(place, caller);
  }

  function start(run: Run): Promise<Verdict> {
    run.start = now();
    const verdict = settleOrder(settings, run);
    const place: Place = { run, verdict };
    const { key } = run;
    places.set(key, place);
    const leave = (): void => {
      if (places.get(key) === place) places.delete(key);
    };
    const end = (): void => {
      if (run.unfinished === undefined) return leave();
      run.deadline = now() + LONGEST_CREDIT;
      run.unfinished.then(leave, leave);
    };
    verdict.then(end, end);
    return verdict;
  }

  /**
   * After another's run, the order's row decides, because that run may have been rolled back. A
   * webhook then runs anew, unless a run that a webhook began after it came has asked already: the
   * customer may have paid at a second try.
   */
  async function join({ run, verdict }: Place, caller: Run): Promise<Verdict> {
    const toReason = (): WebhookError => stillWaiting(run);
    try {
      const ended = await caller.join(run, '', verdict, toReason);
      // The schedule may have more time than the run had.
      const isCut = ended.error instanceof NotAsked && caller.end > run.end;
      if (isCut && caller.source === 'reconcile') return await settle(caller);
      const { paid } = await findOrder(settings, caller);
      if (paid === true) return { outcome: 'paid', payment: ended.payment };
      const isNewer = run.source === 'webhook' && run.start >= caller.start;
      const isYes = ended.outcome === 'credited' || ended.outcome === 'paid';
      if (caller.source !== 'webhook' || isNewer) return isYes ? rolledBack(ended) : ended;
      // A credit that hangs keeps the place of its order.
      const unfinished = run.unfinished?.catch(() => undefined);
      if (unfinished) await caller.wait('', () => unfinished, toReason);
    } catch (error) {
      return refusal(error);
    }
    return settle(caller);
  }

  return settle;
}

function stillWaiting({ step }: Run): WebhookError {
  const hint = step === 'the service' ? '' : ': look for a row that is locked';
  return runError(
    'handler_timeout',
    `another run of the same order still waits for ${step}${hint}`,
  );
}

function rolledBack({ payment }: Verdict): Verdict {
  const message =
    'another run has credited the order, and find() says unpaid: that run was rolled back, or ' +
    'find() reads old data';
  return { ...refusal(runError('not_credited', message)), payment };
}
