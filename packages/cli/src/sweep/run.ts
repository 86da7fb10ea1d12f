/** One run of `reconcile` or `verify` for one merchant, and its report. */
import type { Payments, ReconcileReport, VerifyReport } from '@paylink/payments';
import { isConfigurationError, messageOf } from '../terminal/failure.js';

type SweepOptions = NonNullable<Parameters<Payments['reconcile']>[1]>;
type SweepProgress = Parameters<NonNullable<SweepOptions['onProgress']>>[0];

/** One list of a report. Errors and undecided orders have details. */
export type RunList = Pick<ReconcileReport['undecided'], 'count' | 'references'> &
  Partial<Pick<ReconcileReport['undecided'], 'details'>>;

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
  /** The number of orders that were read. */
  readonly read: number;
  /** The lists that `payments` returned. A run that did not end has only the known counts. */
  readonly lists: Readonly<Record<string, RunList>>;
  /** Why the run failed. */
  readonly error?: Readonly<Record<'code' | 'message', string>>;
  /** Why the run did not ask about each order. */
  readonly reason?: string | undefined;
  /** A run with this cursor starts at the first order that was not asked. */
  readonly cursor: string | undefined;
}

export type SweepName = 'reconcile' | 'verify';

/** The lists that mean a difference between the orders and the service. */
export const FINDINGS: Readonly<Record<SweepName, readonly string[]>> = {
  reconcile: [],
  verify: ['notPaid', 'differs', 'noPayment'],
};

export type RunOptions = SweepOptions & {
  readonly signal: AbortSignal;
  readonly onProgress: (progress: SweepProgress) => void;
};

type Ending = Omit<RunReport, 'time' | 'tenant' | 'durationMs'>;

/** @throws ConfigurationError for a wrong setting, such as a missing `orders.unpaid` */
export async function runOnce(
  name: SweepName,
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
  const ended = (result: Result): Ending => ({
    result,
    read: known.ended ?? 0,
    lists: {
      credited: { count: known.credited ?? 0, references: [] },
      errors: { count: known.errors ?? 0, references: [] },
    },
    cursor: known.cursor ?? options.cursor,
  });
  try {
    const swept = await payments[name](references, {
      ...options,
      ...(tenant === undefined ? {} : { tenant }),
      onProgress: (progress) => {
        known = progress;
        onProgress(progress);
      },
    });
    return reported(endingOf(swept, name, (known.pause ?? 0) > 0));
  } catch (error) {
    if (options.signal.aborted) return reported(ended('stopped'));
    if (isConfigurationError(error)) throw error;
    return reported({ ...ended('failed'), error: describe(error) });
  }
}

function endingOf(
  swept: ReconcileReport | VerifyReport,
  name: SweepName,
  isPaused: boolean,
): Ending {
  const { keyRefused, notAsked, errors, total, cursor } = swept;
  const lists = Object.fromEntries(
    Object.entries(swept as unknown as Record<string, Partial<RunList> | undefined>).filter(
      (entry): entry is [string, RunList] => typeof entry[1]?.count === 'number',
    ),
  );
  const isIncomplete = errors.count > 0 || notAsked.count > 0 || cursor !== undefined;
  const isFound = FINDINGS[name].some((finding) => lists[finding]!.count > 0);
  const because = isPaused ? 'the service limits requests (429)' : 'its time ran out';
  const reason = keyRefused ? 'the service rejected the API key (401)' : because;
  return {
    result: isIncomplete ? 'incomplete' : isFound ? 'found' : 'done',
    read: total - notAsked.count,
    lists,
    reason: notAsked.count > 0 ? reason : undefined,
    cursor,
  };
}

/** Adds the error's cause, and leaves the stack out. */
function describe(error: unknown): NonNullable<RunReport['error']> {
  const { code, cause, name } = Object(error) as Partial<NodeJS.ErrnoException>;
  const reasons = [error, ...(cause instanceof Error ? [cause] : [])].map(messageOf);
  const message = reasons.join(': ').replace(/\s+/g, ' ');
  return { code: [code, name].find((each) => typeof each === 'string') ?? 'error', message };
}
