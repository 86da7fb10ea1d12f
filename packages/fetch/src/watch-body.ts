/** Ends the reading of a body that takes too long, or whose sender leaves. */
import { WebhookError } from '@paylink/core';

/**
 * Milliseconds after which a body counts as slow. Nearly every body is there sooner, and on Deno, Bun and workerd a second timer, or to ask
 * for the request's signal, costs as much as the check of a signature. Deno prints a warning too when it is asked for the signal.
 */
const SLOW = 50;

interface Sender {
  readonly signal?: AbortSignal | undefined;
}

/**
 * Calls `fail` with `body_timeout` or `incomplete_body`. Gives what ends the watch.
 *
 * @param bodyTimeout milliseconds; they count from when the body is found to be slow
 */
export function watchBody(sender: Sender, bodyTimeout: number, fail: (error: WebhookError) => void): () => void {
  let signal: AbortSignal | undefined;
  const onAbort = (): void => fail(incomplete());
  let timer = setTimeout(() => {
    timer = setTimeout(() => fail(new WebhookError('body_timeout')), bodyTimeout);
    try {
      ({ signal } = sender);
    } catch {
      // Getters of a Request that is in a Proxy throw, and no code awaits a timer: the error would end the process.
    }
    signal?.addEventListener('abort', onAbort);
    if (signal?.aborted) onAbort();
  }, SLOW);
  return () => {
    clearTimeout(timer);
    signal?.removeEventListener('abort', onAbort);
  };
}

export function incomplete(cause?: unknown): WebhookError {
  return new WebhookError('incomplete_body', { cause });
}
