import { WebhookError } from '@paylink/core';
import { withinBounds } from '@paylink/core/internal';

export interface Limit {
  /**
   * Undefined leaves only the signal as a limit. Required, so that no prototype can set the field.
   */
  readonly milliseconds: number | undefined;
  readonly signal: AbortSignal | undefined;
  /** The error code after the time limit. The status is 503. */
  readonly code: 'handler_timeout' | 'store_unavailable' | 'confirm_unavailable';
}

/**
 * Runs `work` with a signal that aborts at the limit. Rejects at the limit even if `work` ignores
 * the signal.
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
      const message = `the work took longer than ${milliseconds} ms`;
      controller.abort(aborted ? aborted.reason : new WebhookError(code, { message }));
      return controller.signal.reason as unknown;
    },
  });
}
