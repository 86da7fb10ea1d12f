/** One run of `reconcile` or `verify` for one merchant, and its report. */
import type { Payments, ReconcileReport, VerifyReport } from '@paylink/payments';
import { isConfigurationError, messageOf } from '../terminal/failure.js';

type SweepOptions = NonNullable<Parameters<Payments['reconcile']>[1]>;
type SweepProgress = Parameters<NonNullable<SweepOptions['onProgress']>>[0];
type Listed = ReconcileReport['paid'];

/**
 * `found`: an order differs from the service. `incomplete`: an order was not read, or could not be
 * credited. `failed`: the run could not start or continue. `skipped`: another run is at work.
 */
export type Result =
  'done' | 'skipped' | 'found' | 'incomplete' | 'stopped' | 'failed' | 'key_refused';

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
  readonly sweep: Sweep;
  readonly payments: Payments;
  readonly tenant: string | undefined;
  readonly cursor: string | undefined;
  readonly timeLimit: number;
  readonly concurrency: number;
  readonly stop: AbortSignal;
  /** Removes the secrets from a text. */
  readonly redact: (text: string) => string;
  readonly onProgress: (progress: SweepProgress) => void;
}

/** Milliseconds after the time limit for pending questions and for the list of the orders. */
const GRACE = 60_000;
const LONGEST_TIMER = 2 ** 31 - 1;
const LONGEST_MESSAGE = 300;

/** @throws ConfigurationError for a wrong setting, such as a missing `orders.unpaid` */
export async function runOnce(options: RunOptions): Promise<RunReport> {
  const { sweep, payments, tenant, cursor, timeLimit, concurrency, stop, redact } = options;
  const started = performance.now();
  let known: SweepProgress | undefined;
  const report = (
    result: Result,
    rest: Pick<RunReport, 'counts' | 'lists' | 'errors' | 'cursor'>,
  ): RunReport => ({
    time: new Date().toISOString(),
    tenant: tenant ?? null,
    durationMs: Math.round(performance.now() - started),
    result,
    ...rest,
  });
  const ended = (result: Result, errors: readonly RunError[]): RunReport => {
    const {
      ended: read = 0,
      credited = 0,
      errors: failed = 0,
      cursor: next = cursor,
    } = known ?? {};
    return report(result, {
      counts: { read, credited, errors: failed },
      lists: {},
      errors,
      cursor: next,
    });
  };
  // A merchant's query that hangs would keep the lock for ever.
  const limit = AbortSignal.timeout(Math.min(timeLimit + GRACE, LONGEST_TIMER));
  try {
    const swept = await sweep.run(payments, {
      ...(tenant === undefined ? {} : { tenant }),
      cursor,
      timeLimit,
      concurrency,
      signal: AbortSignal.any([stop, limit]),
      onProgress: (progress) => {
        known = progress;
        options.onProgress(progress);
      },
    });
    const lists = listsOf(swept);
    const { keyRefused, notAsked, errors, total } = swept;
    const result = keyRefused
      ? 'key_refused'
      : errors.count > 0 || notAsked.count > 0
        ? 'incomplete'
        : sweep.findings.some((name) => lists[name]!.count > 0)
          ? 'found'
          : 'done';
    return report(result, {
      counts: {
        read: total - notAsked.count,
        ...Object.fromEntries(Object.entries(lists).map(([name, { count }]) => [name, count])),
      },
      lists: Object.fromEntries(sweep.printed.map((name) => [name, lists[name]!.references])),
      errors: errors.details.map(({ reference, outcome, message }) => ({
        reference,
        code: outcome,
        message: shorten(redact(message)),
      })),
      cursor: swept.cursor,
    });
  } catch (error) {
    if (stop.aborted) return ended('stopped', []);
    if (isConfigurationError(error)) throw error;
    const facts = limit.aborted
      ? { code: 'time_limit', message: 'the run did not end in the minute after its time limit' }
      : factsOf(error);
    return ended('failed', [{ ...facts, message: shorten(redact(facts.message)) }]);
  }
}

function listsOf(report: ReconcileReport | VerifyReport): Readonly<Record<string, Listed>> {
  return Object.fromEntries(
    Object.entries(report).filter((entry): entry is [string, Listed] => {
      const [, value] = entry as [string, Partial<Listed> | undefined];
      return typeof value === 'object' && typeof value.count === 'number';
    }),
  );
}

/** Redacts before cutting, because half a secret would not be found. */
function shorten(message: string): string {
  return message.replace(/\s+/g, ' ').slice(0, LONGEST_MESSAGE);
}

/** Adds the error's cause, and leaves the stack out. */
function factsOf(error: unknown): RunError {
  try {
    const { code, cause, name } = Object(error) as Partial<NodeJS.ErrnoException>;
    const reasons = [messageOf(error), cause instanceof Error ? messageOf(cause) : ''];
    const message = reasons.filter((reason) => reason !== '').join(': ');
    return { code: [code, name].find((each) => typeof each === 'string') ?? 'error', message };
  } catch {
    return { code: 'error', message: messageOf(error) };
  }
}
