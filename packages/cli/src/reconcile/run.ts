/** Performs one scheduled run, and reports for the log, the health file and programs. */
import { setMaxListeners } from 'node:events';
import { withinBounds } from '@paylink/core/internal';
import type { ReconcileProgress, ReconcileReport } from '@paylink/payments';
import { messageOf } from '../database.js';
import { isConfigurationError, isUsageFailure, usageFailure } from '../failure.js';
import type { ShopModule } from './module.js';

/**
 * `incomplete`: an order was not read or not credited. `failed`: the run could not start or
 * continue. `skipped`: another run has the lock.
 */
export type Result = 'done' | 'incomplete' | 'key_refused' | 'failed' | 'stopped' | 'skipped';

export interface RunError {
  /** Missing if the whole run failed. */
  readonly reference?: string;
  readonly code: string;
  readonly message: string;
}

export interface RunReport {
  /** The end of the run. */
  readonly time: string;
  readonly durationMs: number;
  readonly result: Result;
  /** A stopped run reports the known counts. */
  readonly counts: Readonly<Record<string, number>>;
  readonly credited: readonly string[];
  /** Unpaid orders that have a mark. */
  readonly duplicates: readonly string[];
  readonly errors: readonly RunError[];
  /** The cursor of the next run. Undefined if the run read every order. */
  readonly cursor: string | undefined;
}

export interface RunOptions {
  readonly shop: ShopModule;
  readonly tenant: string | undefined;
  readonly cursor: string | undefined;
  readonly deadline: number;
  readonly concurrency: number;
  readonly signal: AbortSignal;
  /** Runs the work under the lock. Returns undefined if another run has the lock. */
  readonly alone: (work: () => Promise<ReconcileReport>) => Promise<ReconcileReport | undefined>;
  /** Removes the secrets from a text. */
  readonly redact: (text: string) => string;
  readonly onError: (error: RunError) => void;
  readonly onProgress: (progress: ReconcileProgress) => void;
}

/** Milliseconds after the deadline for pending requests and credits. */
const GRACE = 60_000;
const LONGEST_TIMER = 2 ** 31 - 1;

/** @throws Failure if `unpaidReferences` does not return references, or if a setting is wrong */
export async function runOnce({
  alone,
  onError,
  redact,
  signal,
  ...options
}: RunOptions): Promise<RunReport> {
  const started = performance.now();
  const errors: RunError[] = [];
  const add = (error: RunError): void => {
    // Redacts before cutting, because half a secret would not be found.
    const message = redact(error.message).replace(/\s+/g, ' ').slice(0, LONGEST_MESSAGE);
    errors.push({ ...error, message });
    onError(errors.at(-1)!);
  };
  let known: ReconcileProgress | undefined;
  const onProgress = (progress: ReconcileProgress): void => {
    known = progress;
    options.onProgress(progress);
  };
  const ended = (result: Result, report?: ReconcileReport): RunReport => ({
    time: new Date().toISOString(),
    durationMs: Math.round(performance.now() - started),
    result,
    counts: report === undefined ? countsOf(known) : countLists(report),
    credited: report?.credited ?? [],
    duplicates: report?.duplicates ?? [],
    errors,
    cursor: report === undefined ? (known?.cursor ?? options.cursor) : report.cursor,
  });
  const limit = new AbortController();
  const stop = (): void => limit.abort(signal.reason);
  setMaxListeners(0, limit.signal);
  signal.addEventListener('abort', stop);
  try {
    signal.throwIfAborted();
    const running = alone(() =>
      reconcileWith({ ...options, signal: limit.signal, onProgress }, ({ reference, error }) =>
        add({ reference, ...factsOf(error) }),
      ),
    );
    // A merchant's query that hangs would keep the lock forever.
    const report = await withinBounds(running, {
      milliseconds: Math.min(options.deadline + GRACE, LONGEST_TIMER),
      reason: () => {
        limit.abort(new Error('the run did not end in the minute after its deadline'));
        return limit.signal.reason as unknown;
      },
    });
    if (report === undefined) return ended('skipped');
    for (const reference of report.repeated) add({ reference, ...REPEATED });
    if (report.keyRefused) return ended('key_refused', report);
    const hasErrors = errors.length > 0 || report.errors.length > 0;
    const isDone = !hasErrors && report.notAsked.length === 0;
    return ended(isDone ? 'done' : 'incomplete', report);
  } catch (error) {
    if (signal.aborted) return ended('stopped');
    if (isConfigurationError(error) || isUsageFailure(error)) throw error;
    add(factsOf(error));
    return ended('failed');
  } finally {
    signal.removeEventListener('abort', stop);
  }
}

const REPEATED = { code: 'repeated', message: 'two orders have this reference' };

type Reconciling = Omit<RunOptions, 'alone' | 'onError' | 'redact'>;

async function reconcileWith(
  { shop, tenant, signal, ...options }: Reconciling,
  onError: (failed: ReconcileReport['errors'][number]) => void,
): Promise<ReconcileReport> {
  const asking = async () => shop.unpaidReferences(tenant);
  const references = await withinBounds(asking(), { signals: [signal] });
  if (Array.isArray(references) && references.some((each) => typeof each !== 'string')) {
    throw usageFailure(
      'unpaidReferences() must return strings',
      'for rows, return rows.map(({ reference }) => reference)',
    );
  }
  return shop.payments.reconcile(references, { ...options, tenant, signal, onError });
}

const LISTS = [
  'credited',
  'duplicates',
  'inProgress',
  'pending',
  'failed',
  'cancelled',
  'errors',
  'repeated',
  'notAsked',
] as const satisfies readonly (keyof ReconcileReport)[];

function countLists(report: ReconcileReport): Readonly<Record<string, number>> {
  const lengths = LISTS.map((name) => [name, report[name].length] as const);
  return { read: report.total - report.notAsked.length, ...Object.fromEntries(lengths) };
}

function countsOf(progress: ReconcileProgress | undefined): Readonly<Record<string, number>> {
  const { ended = 0, credited = 0, errors = 0 } = progress ?? {};
  return { read: ended, credited, errors };
}

const LONGEST_MESSAGE = 300;

/** Adds the error's cause, and leaves the stack out. */
function factsOf(error: unknown): Pick<RunError, 'code' | 'message'> {
  try {
    const { code, cause, name } = Object(error) as Partial<NodeJS.ErrnoException>;
    const reasons = [messageOf(error), cause instanceof Error ? messageOf(cause) : ''];
    const message = reasons.filter((reason) => reason !== '').join(': ');
    return { code: [code, name].find((each) => typeof each === 'string') ?? 'error', message };
  } catch {
    return { code: 'error', message: messageOf(error) };
  }
}
