/** Time limits. */
import { WebhookError, withinBounds } from '@paylink/core';

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
