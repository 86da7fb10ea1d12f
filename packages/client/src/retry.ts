import { withinBounds, type Bounds } from '@paylink/core/internal';
import { isPaylinkError, noteMayHaveCreated, PaylinkError } from './errors.js';

/**
 * Upper bound of the random wait before the first retry, in milliseconds. Doubles with each try.
 */
const FIRST_DELAY = 250;

const WORTH_RETRYING = ['network_error', 'timeout', 'rate_limited', 'service_error'];

export interface Patience {
  readonly timeout: number;
  readonly retries: number;
  /** Less than the longest timer, which therefore also limits every wait. */
  readonly deadline: number;
  /** The caller's own signal. */
  readonly signal: AbortSignal | undefined;
  /** For the errors, so that the caller can retry with the same key. */
  readonly idempotencyKey: string | undefined;
  /** If true, the call waits and retries after a rate limit. */
  readonly retryLimited: boolean;
}

/**
 * Tries until a try succeeds or fails for good, or until the tries or the time run out. Waits with
 * full jitter in between, so that clients that failed together do not retry together, and never
 * less than the service asks for.
 *
 * @throws PaylinkError of the last try, or `aborted`
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
      if (wait > 0) {
        const reason = (): PaylinkError => abortionBy(signal!, idempotencyKey);
        await pause(wait, { signals: [signal], reason });
      }
      throwIfAborted(signal, idempotencyKey);
      isAsked = true;
      const milliseconds = Math.min(timeout, Math.max(1, end - performance.now()));
      return await within(milliseconds, patience, attempt);
    } catch (error) {
      if (!isPaylinkError(error)) throw error;
      // The service can refuse a later try because an earlier one created the link.
      mayHaveCreated ||= isAsked && idempotencyKey !== undefined && leavesOpen(error);
      if (mayHaveCreated) noteMayHaveCreated(error);
      const isUnderWay = mayHaveCreated && error.code === 'conflict';
      if (tries > retries || !(isUnderWay || WORTH_RETRYING.includes(error.code))) throw error;
      if (!retryLimited && isLimited(error)) throw error;
      wait = (error.retryAfter ?? 0) + Math.random() * FIRST_DELAY * 2 ** (tries - 1);
      if (performance.now() + wait >= end) throw error;
    }
  }
}

/** The service may have created the link, unless it refused. */
function leavesOpen({ status = 500 }: PaylinkError): boolean {
  return status < 400 || status > 499;
}

function isLimited({ code, retryAfter }: PaylinkError): boolean {
  return code === 'rate_limited' || retryAfter !== undefined;
}

/**
 * Runs one try with a signal that aborts at the time limit or when the caller aborts. The try
 * decides how to end, because it may know more, such as a status whose body did not arrive.
 */
async function within<T>(
  milliseconds: number,
  { signal, idempotencyKey }: Patience,
  attempt: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const controller = new AbortController();
  const running = attempt(controller.signal);
  const reason = (aborted: AbortSignal | undefined): void => {
    const message = `the service did not answer in ${Math.round(milliseconds)} ms`;
    const late = (): PaylinkError => new PaylinkError('timeout', message, { idempotencyKey });
    controller.abort(aborted === undefined ? late() : abortionBy(aborted, idempotencyKey));
  };
  await withinBounds(running, { milliseconds, signals: [signal], reason }).catch(() => undefined);
  return running;
}

/** @throws PaylinkError `aborted` */
export function throwIfAborted(signal: AbortSignal | undefined, idempotencyKey?: string): void {
  if (signal?.aborted === true) throw abortionBy(signal, idempotencyKey);
}

function abortionBy(signal: AbortSignal, idempotencyKey: string | undefined): PaylinkError {
  const { reason: cause } = signal as { readonly reason: unknown };
  return new PaylinkError('aborted', 'the caller aborted', { idempotencyKey, cause });
}

/** Waits, within bounds. */
async function pause(milliseconds: number, bounds: Bounds): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const over = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, milliseconds);
  });
  await withinBounds(over, bounds).finally(() => clearTimeout(timer));
}
