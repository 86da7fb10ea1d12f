/** Reports each delivery: always to the `observe` hook, and to the log if something needs a fix. */
import { logLine, logQuietly, statusAndCode, type Logger } from './logger.js';

/** The outcome of one delivery. Fit for metrics: every field but `reference` has few values. */
export interface DeliveryOutcome {
  /**
   * `handled`: the handler succeeded, or the gate passed the event on. `duplicate`: an earlier
   * delivery was handled. `ignored`: signed, but of another kind. `rejected`: refused because of
   * the delivery's content. `failed`: refused because of a fault on this side, so a retry may help.
   */
  readonly outcome: 'handled' | 'duplicate' | 'ignored' | 'rejected' | 'failed';
  /** The code of the error. */
  readonly code?: string;
  /** A configured kind, or `unrecognized`. Set only after the signature matched. */
  readonly type?: string;
  /** Set only after the signature matched. */
  readonly reference?: string;
  /** Set only after the signature matched. Above 0, the sender still uses an old secret. */
  readonly secretIndex?: number;
  readonly bodyBytes: number;
  readonly durationMs: number;
}

export type ObserveHook = (outcome: DeliveryOutcome) => unknown;

/** Facts of a delivery whose signature matched. The body and its header can still be refused. */
export interface Proven {
  readonly secretIndex: number;
  /** The kind in the header. */
  kind?: string;
  /** The configured kind, or `unrecognized`. */
  type?: string;
  reference?: string;
}

/** Collects the facts of one delivery. */
export interface DeliveryReport {
  bodyBytes: number;
  /** Set once the signature matched. */
  proven: Proven | undefined;
  end(outcome: 'handled' | 'duplicate' | 'ignored'): void;
  /** @param error an error that `hostError` made safe to read */
  fail(error: Error, byHandler: boolean): void;
}

/** Returns a function that starts the report of a delivery. */
export function createReporter(
  observe: ObserveHook | undefined,
  logger: Logger,
): () => DeliveryReport {
  const refusals = createRefusalLog(logger);
  return () => {
    const started = performance.now();
    const report: DeliveryReport = {
      bodyBytes: 0,
      proven: undefined,
      end: (outcome) => tell({ outcome }),
      fail(error, byHandler) {
        const { code, status } = statusAndCode(error);
        const isFailure = byHandler || status > 499;
        tell({ outcome: isFailure ? 'failed' : 'rejected', code });
        const { reference, kind } = report.proven ?? {};
        const fields = { code, status, reference, kind };
        const line = logLine(error, reference === undefined ? undefined : { reference });
        // A stranger can cause endless refusals, but needs a genuine body to cause these lines.
        if (report.proven === undefined) refusals(line, fields);
        else if (isFailure) logger.error(line, fields);
        else logger.warn(line, fields);
      },
    };
    return report;

    function tell(facts: Pick<DeliveryOutcome, 'outcome' | 'code'>): void {
      if (observe === undefined) return;
      const { bodyBytes, proven: { kind: _, ...proven } = {} } = report;
      const durationMs = performance.now() - started;
      logQuietly(() => observe({ ...facts, ...proven, bodyBytes, durationMs }));
    }
  };
}

const MINUTE = 60_000;

/** Logs the first refusal of each code at once, then at most one line per minute with the count. */
function createRefusalLog(
  logger: Logger,
): (line: string, fields: { code: string; status: number }) => void {
  const codes = new Map<string, { until: number; more: number }>();
  return (line, fields) => {
    const now = performance.now();
    const { until, more } = codes.get(fields.code) ?? { until: 0, more: 0 };
    if (now < until) {
      codes.set(fields.code, { until, more: more + 1 });
      return;
    }
    codes.set(fields.code, { until: now + MINUTE, more: 0 });
    const count = more === 0 ? '' : ` (and ${more} more since the last line)`;
    if (fields.status > 499) logger.error(line + count, fields);
    else logger.warn(line + count, fields);
  };
}
