/** One run of `reconcile` or `verify` for one merchant, and its report. */
import type { Payments, ReconcileReport, VerifyReport } from '@paylink/payments';
import type { Tenant } from '../shop/with-shop.js';
import { isConfigurationError, messageOf } from '../terminal/failure.js';

type SweepOptions = NonNullable<Parameters<Payments['reconcile']>[1]>;
type SweepProgress = Parameters<NonNullable<SweepOptions['onProgress']>>[0];
type Listed = ReconcileReport['paid'];

/**
 * `found`: an order differs from the service. `incomplete`: an order was not read, or could not be
 * credited. `failed`: the run could not start or continue. `skipped`: another run is at work.
 */
export type Result =
  | 'done'
  | 'skipped'
  | 'found'
  | 'incomplete'
  | 'stopped'
  | 'failed'
  | 'key_refused';

export interface RunReport {
  /** The end of the run. */
  readonly time: string;
  readonly tenant: string | null;
  readonly durationMs: number;
  readonly result: Result;
  /** A stopped run reports the known counts. */
  readonly counts: Readonly<Record<string, number>>;
  /** The first 1,000 references of each list that a person may want to read. */
  readonly lists: Readonly<Record<string, readonly string[]>>;
  readonly errors: readonly RunError[];
  /** The next run starts here. Undefined if this run read every order. */
  readonly cursor: string | undefined;
}

export interface RunError {
  /** Missing if the whole run failed. */
  readonly reference?: string;
  readonly code: string;
  readonly message: string;
}

export interface Sweep {
  readonly name: 'reconcile' | 'verify';
  readonly run: (
    payments: Payments,
    options: SweepOptions,
  ) => Promise<ReconcileReport | VerifyReport>;
  /** The lists that mean a difference between the orders and the service. */
  readonly findings: readonly string[];
  /** The lists whose references are printed. */
  readonly printed: readonly string[];
}

export interface RunOptions {
  readonly tenant: Tenant;
  readonly cursor: string | undefined;
  readonly timeLimit: number;
  readonly concurrency: number;
  /** Ends the run. */
  readonly signal: AbortSignal;
  readonly onProgress: (progress: SweepProgress) => void;
}

/** Milliseconds after the time limit for pending questions and for the list of the orders. */
const GRACE = 60_000;
const LONGEST_TIMER = 2 ** 31 - 1;

type Ending = Pick<RunReport, 'result' | 'counts' | 'lists' | 'errors' | 'cursor'>;

/** @throws ConfigurationError for a wrong setting, such as a missing `orders.unpaid` */
export async function runOnce(
  sweep: Sweep,
  payments: Payments,
  options: RunOptions,
): Promise<RunReport> {
  const started = performance.now();
  const ending = await endingOfRun(sweep, payments, options);
  const durationMs = Math.round(performance.now() - started);
  return { time: new Date().toISOString(), tenant: options.tenant ?? null, durationMs, ...ending };
}

async function endingOfRun(
  sweep: Sweep,
  payments: Payments,
  { tenant, signal, onProgress, ...options }: RunOptions,
): Promise<Ending> {
  let known: Partial<SweepProgress> = {};
  const ended = (result: Result, errors: readonly RunError[]): Ending => ({
    result,
    counts: { read: known.ended ?? 0, credited: known.credited ?? 0, errors: known.errors ?? 0 },
    lists: {},
    errors,
    cursor: known.cursor ?? options.cursor,
  });
  // A merchant's query that hangs would keep the lock for ever.
  const limit = AbortSignal.timeout(Math.min(options.timeLimit + GRACE, LONGEST_TIMER));
  try {
    const swept = await sweep.run(payments, {
      ...options,
      ...(tenant === undefined ? {} : { tenant }),
      signal: AbortSignal.any([signal, limit]),
      onProgress: (progress) => {
        known = progress;
        onProgress(progress);
      },
    });
    return endingOf(swept, sweep);
  } catch (error) {
    if (signal.aborted) return ended('stopped', []);
    if (isConfigurationError(error)) throw error;
    const late = 'the run did not end in the minute after its time limit';
    return ended('failed', [
      limit.aborted ? { code: 'time_limit', message: late } : describe(error),
    ]);
  }
}

function endingOf(swept: ReconcileReport | VerifyReport, sweep: Sweep): Ending {
  const { keyRefused, notAsked, errors, total, cursor } = swept;
  const lists = Object.fromEntries(
    Object.entries(swept as unknown as Record<string, Partial<Listed> | undefined>).filter(
      (entry): entry is [string, Listed] => typeof entry[1]?.count === 'number',
    ),
  );
  // With a cursor, the list ended early.
  const isIncomplete = errors.count > 0 || notAsked.count > 0 || cursor !== undefined;
  const isFound = sweep.findings.some((name) => lists[name]!.count > 0);
  const counts = Object.entries(lists).map(([name, { count }]): [string, number] => [name, count]);
  return {
    result: keyRefused ? 'key_refused' : isIncomplete ? 'incomplete' : isFound ? 'found' : 'done',
    counts: { read: total - notAsked.count, ...Object.fromEntries(counts) },
    lists: Object.fromEntries(sweep.printed.map((name) => [name, lists[name]!.references])),
    errors: errors.details.map(({ reference, outcome, message }) => ({
      reference,
      code: outcome,
      message,
    })),
    cursor,
  };
}

/** Adds the error's cause, and leaves the stack out. */
function describe(error: unknown): RunError {
  const { code, cause, name } = Object(error) as Partial<NodeJS.ErrnoException>;
  const reasons = [error, ...(cause instanceof Error ? [cause] : [])].map(messageOf);
  const message = reasons.join(': ').replace(/\s+/g, ' ');
  return { code: [code, name].find((each) => typeof each === 'string') ?? 'error', message };
}
