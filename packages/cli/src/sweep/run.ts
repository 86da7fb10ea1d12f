/** One run of `reconcile` or `verify` for one merchant, and its report. */
import type { Payments, ReconcileReport, VerifyReport } from '@paylink/payments';
import type { Tenant } from '../shop/with-shop.js';
import { isConfigurationError, messageOf } from '../terminal/failure.js';

type SweepOptions = NonNullable<Parameters<Payments['reconcile']>[1]>;
type SweepProgress = Parameters<NonNullable<SweepOptions['onProgress']>>[0];
type Listed = ReconcileReport['paid'];

/**
 * `done`: every order was read and decided, or needs a manual decision. `found`: an order differs
 * from the service. `incomplete`: an order was not read, not asked about or not credited.
 * `failed`: the run could not start or read its list.
 */
export type Result = 'done' | 'found' | 'incomplete' | 'stopped' | 'failed';

export interface RunReport {
  /** The end of the run. */
  readonly time: string;
  readonly tenant: string | null;
  readonly durationMs: number;
  readonly result: Result;
  /** A stopped run reports the known counts. */
  readonly counts: Readonly<Record<string, number>>;
  /** The first 1,000 references of each list that people may want to read. */
  readonly lists: Readonly<Record<string, readonly string[]>>;
  readonly errors: readonly RunError[];
  /** The first 1,000 manual cases. */
  readonly undecided: readonly RunError[];
  /** Why the run did not ask about each order. */
  readonly reason: string | undefined;
  /** A run with this cursor starts at the first order that was not asked. */
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

type Ending = Omit<RunReport, 'time' | 'tenant' | 'durationMs'>;

/** @throws ConfigurationError for a wrong setting, such as a missing `orders.unpaid` */
export async function runOnce(
  sweep: Sweep,
  payments: Payments,
  references: readonly string[] | undefined,
  { tenant, onProgress, ...options }: RunOptions,
): Promise<RunReport> {
  const started = performance.now();
  let known: Partial<SweepProgress> = {};
  const reported = (ending: Ending): RunReport => ({
    time: new Date().toISOString(),
    tenant: tenant ?? null,
    durationMs: Math.round(performance.now() - started),
    ...ending,
  });
  const ended = (result: Result, errors: readonly RunError[]): RunReport =>
    reported({
      result,
      counts: { read: known.ended ?? 0, credited: known.credited ?? 0, errors: known.errors ?? 0 },
      lists: {},
      errors,
      undecided: [],
      reason: undefined,
      cursor: known.cursor ?? options.cursor,
    });
  try {
    const swept = await payments[sweep.name](references, {
      ...options,
      ...(tenant === undefined ? {} : { tenant }),
      onProgress: (progress) => {
        known = progress;
        onProgress(progress);
      },
    });
    return reported(endingOf(swept, sweep, (known.pause ?? 0) > 0));
  } catch (error) {
    if (options.signal.aborted) return ended('stopped', []);
    if (isConfigurationError(error)) throw error;
    return ended('failed', [describe(error)]);
  }
}

function endingOf(swept: ReconcileReport | VerifyReport, sweep: Sweep, isPaused: boolean): Ending {
  const { keyRefused, notAsked, errors, total, cursor } = swept;
  const lists = Object.fromEntries(
    Object.entries(swept as unknown as Record<string, Partial<Listed> | undefined>).filter(
      (entry): entry is [string, Listed] => typeof entry[1]?.count === 'number',
    ),
  );
  const isIncomplete = errors.count > 0 || notAsked.count > 0 || cursor !== undefined;
  const isFound = sweep.findings.some((name) => lists[name]!.count > 0);
  const counts = Object.entries(lists).map(([name, { count }]): [string, number] => [name, count]);
  const because = isPaused ? 'the service limits requests (429)' : 'its time ran out';
  const reason = keyRefused ? 'the service rejected the API key (401)' : because;
  return {
    result: isIncomplete ? 'incomplete' : isFound ? 'found' : 'done',
    counts: { read: total - notAsked.count, ...Object.fromEntries(counts) },
    lists: Object.fromEntries(
      [...sweep.printed, 'notAsked'].map((name) => [name, lists[name]?.references ?? []]),
    ),
    errors: detailsOf(errors),
    undecided: 'undecided' in swept ? detailsOf(swept.undecided) : [],
    reason: notAsked.count > 0 ? reason : undefined,
    cursor,
  };
}

function detailsOf({ details }: Pick<ReconcileReport['errors'], 'details'>): RunError[] {
  return details.map(({ reference, outcome, message }) => ({ reference, code: outcome, message }));
}

/** Adds the error's cause, and leaves the stack out. */
function describe(error: unknown): RunError {
  const { code, cause, name } = Object(error) as Partial<NodeJS.ErrnoException>;
  const reasons = [error, ...(cause instanceof Error ? [cause] : [])].map(messageOf);
  const message = reasons.join(': ').replace(/\s+/g, ' ');
  return { code: [code, name].find((each) => typeof each === 'string') ?? 'error', message };
}
