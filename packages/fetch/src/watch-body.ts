/** Ends the reading of a body that takes too long, or whose sender leaves. */
import { WebhookError } from '@paylink/core';

/**
 * Milliseconds after which a body counts as slow. Nearly every body is there sooner, and on Deno and Bun a timer for each, or to ask for
 * the request's signal, costs more than the check of a signature. Deno prints a warning too when it is asked for the signal.
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
  let timer: ReturnType<typeof setTimeout> | undefined;
  let signal: AbortSignal | undefined;
  const onAbort = (): void => fail(incomplete());
  const end = whenSlow(() => {
    timer = setTimeout(() => fail(new WebhookError('body_timeout')), bodyTimeout);
    signal = signalOf(sender);
    signal?.addEventListener('abort', onAbort);
    if (signal?.aborted) onAbort();
  });
  return () => {
    end();
    clearTimeout(timer);
    signal?.removeEventListener('abort', onAbort);
  };
}

/** An error here would end the process, since no code awaits a timer. Getters of a Request that is in a Proxy throw. */
function signalOf(sender: Sender): AbortSignal | undefined {
  try {
    return sender.signal;
  } catch {
    return undefined;
  }
}

export function incomplete(cause?: unknown): WebhookError {
  return new WebhookError('incomplete_body', { cause });
}

// A Worker's timer belongs to one request, and ends with it. Hosts that are not known may do the same.
const mayShare = 'Deno' in globalThis || 'Bun' in globalThis;

const waiting = new Set<() => void>();
let shared: ReturnType<typeof setTimeout> | undefined;

/** Calls `look` unless it is ended within SLOW milliseconds; of many that wait at once, with one timer for all. */
function whenSlow(look: () => void): () => void {
  if (!mayShare) {
    const timer = setTimeout(look, SLOW);
    return () => clearTimeout(timer);
  }
  if (waiting.size === 0) shared = setTimeout(lookAtAll, SLOW);
  waiting.add(look);
  return () => {
    // Nothing is left behind: Deno's tests count a timer that is.
    if (waiting.delete(look) && waiting.size === 0) clearTimeout(shared);
  };
}

function lookAtAll(): void {
  const looks = [...waiting];
  waiting.clear();
  for (const look of looks) look();
}
