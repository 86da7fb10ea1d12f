import { type Logger } from '@paylink/core';
import {
  check,
  validateBound,
  validateOptions,
  withinBounds,
  checkSignal,
} from '@paylink/core/internal';
import { ask, type ServicePayment } from '../ask.js';
import { creditNow, type Paid } from '../credit.js';
import { identify, validateTenant } from '../identity.js';
import { withLimit } from '../limits.js';
import { tell } from '../observe.js';
import { hasMark } from '../run-once.js';
import { SUCCEEDED, type Settings } from '../settings.js';
import { RateLimit } from './rate-limit.js';
import { checkReferences, inOrder, parseCursor, type Item, type References } from './references.js';
import {
  Report,
  type FailedOrder,
  type ReconcileProgress,
  type ReconcileReport,
  type Result,
} from './report.js';

export interface ReconcileOptions {
  /**
   * `cursor` of the last report or progress. Without a cursor, a run over an array starts at a
   * random place.
   */
  readonly cursor?: string | undefined;
  /** Called at the end, when a pause begins, and at most once per second. */
  readonly onProgress?: ((progress: ReconcileProgress) => unknown) | undefined;
  /** Called for each error as it occurs. The payments then log nothing. */
  readonly onError?: ((failed: FailedOrder) => unknown) | undefined;
  /** Simultaneous requests, 1 to 100. Default 4. */
  readonly concurrency?: number | undefined;
  /**
   * Milliseconds for the run including pauses. The run starts no reference afterwards. Default
   * 600,000.
   */
  readonly deadline?: number | undefined;
  /** The merchant whose orders these are. Omit it, or pass false, with one merchant. */
  readonly tenant?: string | false | undefined;
  /** Ends the run. The promise rejects with the signal's reason. */
  readonly signal?: AbortSignal | undefined;
}

const NAMES = ['cursor', 'onProgress', 'onError', 'concurrency', 'deadline', 'tenant', 'signal'];
const SILENT: Logger = { warn: () => undefined, error: () => undefined };

/** Milliseconds between two calls of `onProgress`. */
const PROGRESS_INTERVAL = 1_000;

/** Asks the service for each reference, and credits the orders that are paid. */
export async function reconcile<Tx, Payment extends ServicePayment>(
  settings: Settings<Tx, Payment>,
  references: References,
  options: ReconcileOptions = {},
): Promise<ReconcileReport> {
  const own = validateOptions(options, NAMES);
  const { onProgress, onError, signal, concurrency = 4, deadline = 600_000 } = own;
  checkReferences(references);
  for (const [name, hook] of Object.entries({ onProgress, onError })) {
    check(hook === undefined || typeof hook === 'function', name, 'must be a function');
  }
  checkSignal(signal);
  const places = validateBound('concurrency', concurrency, 1, 100);
  const end = performance.now() + validateBound('deadline', deadline);
  const tenant = validateTenant(own.tenant);
  const total = Array.isArray(references) ? references.length : undefined;

  const report = new Report();
  let told = performance.now();
  const tellProgress = (pause?: number): void => {
    told = performance.now();
    tell(onProgress, report.progress(total, pause));
  };
  const limit = new RateLimit({ end, signal, mostRefusals: 5, onPause: tellProgress });
  const steps = { tenant, signal, limit };
  const quiet = onError === undefined ? settings : { ...settings, logger: SILENT };
  const seen = new Set<string>();
  const items = inOrder(references, parseCursor(own.cursor));
  const work = async (item: Item): Promise<void> => {
    report.begin(item);
    const isRepeated = seen.size === seen.add(item.reference).size;
    const result: Result = isRepeated
      ? 'repeated'
      : await resultOf(quiet, item.reference, steps).catch((error: unknown) => ({ error }));
    report.end(item, result);
    // Skips the errors of requests that failed because the caller ended the run.
    if (typeof result === 'object' && signal?.aborted !== true)
      tell(onError, { reference: item.reference, ...result });
    if (performance.now() - told >= PROGRESS_INTERVAL) tellProgress();
  };
  // The rest of an array is known. Other sources need only the first reference not asked, for the
  // cursor.
  const isEnough = (): boolean => total === undefined && report.isIncomplete;
  const isRead = await inParallel(items, { places, signal, end, isEnough }, work);
  if (!isRead) report.leaveUnread();
  tellProgress();
  return report.lists(limit.keyRefused);
}

interface Steps {
  readonly tenant: string | undefined;
  readonly signal: AbortSignal | undefined;
  readonly limit: RateLimit;
}

async function resultOf<Tx, Payment extends ServicePayment>(
  settings: Settings<Tx, Payment>,
  reference: string,
  { tenant, signal, limit }: Steps,
): Promise<Result> {
  const { store, clientOf, timeout: milliseconds } = settings;
  const identity = await identify({ tenant, kind: SUCCEEDED, reference });
  if (limit.isOver) return 'notAsked';
  const lookup = { milliseconds, signal, code: 'store_unavailable' } as const;
  if (await withLimit(lookup, () => hasMark(store, identity))) return 'duplicates';
  const question = { milliseconds, signal, code: 'confirm_unavailable' } as const;
  const payment = await limit.ask(() =>
    withLimit(question, (bound) =>
      ask(clientOf, reference, { signal: bound, tenant, retryLimited: false }),
    ),
  );
  if (payment === undefined) return 'notAsked';
  if (payment.status !== 'success') return payment.status;
  const context = { source: 'reconcile', tenant, signal } as const;
  return LISTS[await creditNow(settings, payment as Paid<Payment>, identity, context)];
}

const LISTS = {
  handled: 'credited',
  duplicate: 'duplicates',
  in_progress: 'inProgress',
} as const;

interface Parallel {
  readonly places: number;
  readonly signal: AbortSignal | undefined;
  /** A value of `performance.now()` after which the run awaits no item. */
  readonly end: number;
  readonly isEnough: () => boolean;
}

/**
 * Calls `work` for each item as it arrives. Resolves when no call is running. Resolves with false
 * if an item had not arrived by the end.
 */
async function inParallel(
  items: AsyncGenerator<Item, void, undefined>,
  { places, signal, end, isEnough }: Parallel,
  work: (item: Item) => Promise<void>,
): Promise<boolean> {
  const late = new Error('`references` yielded nothing before the deadline');
  const reason = (aborted: AbortSignal | undefined): unknown => aborted?.reason ?? late;
  const take = async (): Promise<void> => {
    while (!isEnough()) {
      signal?.throwIfAborted();
      const milliseconds = Math.max(0, end - performance.now());
      const next = await withinBounds(items.next(), { milliseconds, signals: [signal], reason });
      if (next.done === true) return;
      await work(next.value);
    }
  };
  try {
    const taken = await Promise.allSettled(Array.from({ length: places }, take));
    signal?.throwIfAborted();
    const errors = taken.flatMap((each) =>
      each.status === 'rejected' ? [each.reason as unknown] : [],
    );
    for (const error of errors) if (error !== late) throw error;
    return errors.length === 0;
  } finally {
    // Closes a database cursor behind the references. Does not await, because closing may hang.
    items.return().catch(() => undefined);
  }
}
