/** Time limits and abort signals. */
import { check, WebhookError, withinBounds } from '@paylink/core';

export interface Limit {
  /** Undefined: no limit but the signal. Not optional, so that no prototype can set the fields. */
  readonly milliseconds: number | undefined;
  readonly signal: AbortSignal | undefined;
  /** The code of the error if the time is over. Its status is 503. */
  readonly code: 'handler_timeout' | 'store_unavailable' | 'confirm_unavailable';
}

/**
 * Runs `work` with a signal that is aborted at the limit. Rejects at the limit even if `work`
 * ignores the signal.
 *
 * @throws the error of `work`, the reason of the signal, or WebhookError with `code`
 */
export async function withLimit<T>(
  { milliseconds, signal, code }: Limit,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  signal?.throwIfAborted();
  const controller = new AbortController();
  return withinBounds(work(controller.signal), {
    milliseconds,
    signals: [signal],
    reason(aborted) {
      const message = `not done after ${milliseconds} ms`;
      controller.abort(aborted ? aborted.reason : new WebhookError(code, { message }));
      return controller.signal.reason as unknown;
    },
  });
}

/** The longest that a timer can be set for, in milliseconds. A longer timer fires at once. */
const LONGEST_TIMER = 2 ** 31 - 1;

/** Waits, 24 days at most. @throws the reason of the signal */
export async function pause(milliseconds: number, signal?: AbortSignal): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const over = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, Math.min(milliseconds, LONGEST_TIMER));
  });
  await withinBounds(over, { signals: [signal] }).finally(() => clearTimeout(timer));
}

/** @throws ConfigurationError unless `signal` is absent or an AbortSignal */
export function checkSignal(signal: unknown): asserts signal is AbortSignal | undefined {
  const { addEventListener, throwIfAborted } = Object(signal) as Partial<AbortSignal>;
  const isSignal = typeof addEventListener === 'function' && typeof throwIfAborted === 'function';
  check(signal === undefined || isSignal, 'signal', 'must be an AbortSignal');
}
