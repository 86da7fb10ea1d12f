import { pause, within } from './deadline.js';
import { isPaylinkError, noteMayHaveCreated, PaylinkError } from './errors.js';

/** Whether the service asks to wait: with 429, or with a Retry-After. */
export function isLimited({ code, retryAfter }: PaylinkError): boolean {
  return code === 'rate_limited' || retryAfter !== undefined;
}

/** The wait before a retry is drawn from 0 to this, doubled with each try. In milliseconds. */
const FIRST_DELAY = 250;

const WORTH_RETRYING: ReadonlySet<string> = new Set([
  'network_error',
  'timeout',
  'rate_limited',
  'service_error',
]);

export interface Patience {
  readonly timeout: number;
  readonly retries: number;
  readonly deadline: number;
  readonly signal: AbortSignal | undefined;
  readonly idempotencyKey: string | undefined;
  /** Whether a refusal by the service's rate limit is waited for. */
  readonly retryLimited: boolean;
}

/**
 * Tries until one try succeeds or fails for good, or until the tries or the time run out. Waits with full jitter between
 * them, so that clients that failed together do not retry together, and never less than the service asked for.
 *
 * @throws PaylinkError of the last try, or `aborted`.
 */
export async function retry<T>(
  patience: Patience,
  attempt: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const { timeout, retries, deadline, signal, idempotencyKey, retryLimited } = patience;
  const end = performance.now() + deadline;
  let wait = 0;
  let mayHaveCreated = false;
  for (let tries = 1; ; tries++) {
    let isAsked = false;
    try {
      if (wait > 0) await pause(wait, patience);
      const milliseconds = Math.min(timeout, Math.max(1, end - performance.now()));
      const late = (): PaylinkError =>
        new PaylinkError(
          'timeout',
          `the service did not answer in ${Math.round(milliseconds)} ms`,
          { idempotencyKey },
        );
      return await within({ milliseconds, late, signal, idempotencyKey }, (bound) => {
        isAsked = true;
        return attempt(bound);
      });
    } catch (error) {
      if (!isPaylinkError(error)) throw error;
      // A later try can be refused because an earlier one has made the link.
      mayHaveCreated ||= isAsked && idempotencyKey !== undefined && leavesOpen(error);
      if (mayHaveCreated) noteMayHaveCreated(error);
      const isUnderWay = mayHaveCreated && error.code === 'conflict';
      if (tries > retries || !(isUnderWay || WORTH_RETRYING.has(error.code))) throw error;
      if (!retryLimited && isLimited(error)) throw error;
      wait = (error.retryAfter ?? 0) + Math.random() * FIRST_DELAY * 2 ** (tries - 1);
      if (performance.now() + wait >= end) throw error;
    }
  }
}

/** Whether the service may have made the link: it said nothing, failed, or did not refuse. */
function leavesOpen({ status = 500 }: PaylinkError): boolean {
  return status < 400 || status > 499;
}
