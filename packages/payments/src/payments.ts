/** The three ways to credit an order. The runs of one order go one after the other. */
import type { WebhookError } from '@paylink/core';
import {
  checkSignal,
  DeliveryContext,
  faultOfReference,
  LazyAbort,
  validateBound,
  validateOptions,
  withinBounds,
  type Bounds,
} from '@paylink/core/internal';
import { Limited } from './answer.js';
import type { Outcome, Payments, PaymentsOptions } from './contract.js';
import { createSettings, type Settings } from './options.js';
import { OrderLocks } from './order-lock.js';
import { field, runError } from './order.js';
import { reconcile, verify } from './reconcile.js';
import { LOST_AFTER, now, Run, type Call } from './run.js';
import { explain, logError, refusal, settleOrder, TRANSLATIONS } from './settle-order.js';
import type { Verdict } from './settle-order.js';

/**
 * Configures how notifications, the return page and the schedule credit orders.
 *
 * @throws ConfigurationError that names the option
 */
export function createPayments(options: PaymentsOptions): Payments {
  const settings = createSettings(options);
  const locks = new OrderLocks();
  const settle = async (run: Run): Promise<Verdict> => {
    let verdict: Verdict;
    try {
      verdict = await locks.hold(run, (hold) => settleOrder(settings, run, hold));
    } catch (error) {
      verdict = refusal(error);
    }
    run.stop();
    observeRun(settings, run, verdict.outcome);
    logVerdict(settings, run, verdict);
    return verdict;
  };
  /** Ends the caller's wait after `wait` milliseconds or on abort. The run can go on. */
  const settleWithin = async (call: Call, signal: unknown, wait: number): Promise<Verdict> => {
    if (!(signal instanceof LazyAbort)) checkSignal(signal);
    const run = new Run(call, settings.timeout);
    const reason: Bounds['reason'] = (aborted): WebhookError =>
      runError('handler_timeout', 'the caller stopped waiting', aborted?.reason);
    if (signal?.aborted === true) {
      observeRun(settings, run, 'handler_timeout');
      return refusal(reason(signal));
    }
    const bounds = { milliseconds: wait, signals: [signal], reason };
    try {
      return await withinBounds(settle(run), bounds);
    } catch (error) {
      run.abandon();
      return refusal(error);
    }
  };
  return Object.freeze<Payments>({
    async receive(event, context = {}) {
      const call = callOfEvent(settings, event);
      const signal = DeliveryContext.abortOf(context) ?? field(context, 'signal');
      const { error } = await settleWithin(call, signal, settings.timeout + LOST_AFTER);
      if (error !== undefined) throw error;
    },

    async settle(reference, options = {}) {
      const own = validateOptions(options, ['tenant', 'signal', 'wait']);
      const { signal, wait = 3_000 } = own;
      const call = callOf(settings, reference, own.tenant);
      validateBound('wait', wait, 0);
      const { outcome, payment } = await settleWithin(call, signal, wait);
      return { status: TRANSLATIONS[outcome].settle, ...(payment && { payment }) };
    },

    reconcile: (references, call) => reconcile(settings, settle, references, call),
    verify: (references, call) => verify(settings, references, call),

    async explain(reference, options = {}) {
      const own = validateOptions(options, ['tenant', 'signal']);
      checkSignal(own.signal);
      const run = new Run(callOf(settings, reference, own.tenant), settings.timeout);
      const explaining = explain(settings, run).finally(() => run.stop());
      const milliseconds = settings.timeout + LOST_AFTER;
      return withinBounds(explaining, { milliseconds, signals: [own.signal] });
    },
  });
}

/** Milliseconds for which a page that polls does not repeat a log line. */
const LOGGED_FOR = 60_000;

function callOf({ tenantOf }: Settings, reference: unknown, tenant: unknown): Call {
  // A query such as `?reference[]=x` gives an array. No order has the blank reference.
  const text = typeof reference === 'string' ? reference : '';
  return { reference: text, tenant: tenantOf(tenant), source: 'settle' };
}

/** @throws WebhookError `misconfigured` */
function callOfEvent({ tenantOf }: Settings, event: unknown): Call {
  const misconfigured = (message: string): WebhookError => runError('misconfigured', message);
  if (field(event, 'type') !== 'payment.succeeded') {
    const problem = 'payments.receive handles only payment.succeeded';
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

function observeRun({ observe }: Settings, run: Run, outcome: Outcome): void {
  if (observe === undefined) return;
  const { source, reference, tenant, start } = run;
  const ended = { source, outcome, reference, tenant, durationMs: now() - start };
  (async () => observe(ended))().catch(() => undefined);
}

function logVerdict(settings: Settings, run: Run, { outcome, error }: Verdict): void {
  const { source, key } = run;
  const { reconcile: list } = TRANSLATIONS[outcome];
  const isForPeople = list === 'errors' || list === 'undecided';
  // The receiver logs what a webhook throws.
  if (error === undefined || source === 'webhook' || !isForPeople) return;
  if (source === 'settle') {
    // A stranger can ask a page for unknown orders, and for many orders during an outage.
    if (outcome === 'unknown_order') return;
    const isOutage = outcome.endsWith('_unavailable') || outcome === 'handler_timeout';
    if (!settings.isNews(`${outcome} ${isOutage ? '' : key}`, LOGGED_FOR)) return;
  } else {
    if (error instanceof Limited) return;
    // Every scheduled run reads an order that needs a manual decision again.
    if (list === 'undecided' && !settings.isNews(`undecided ${key}`)) return;
  }
  logError(settings, run, error);
}
