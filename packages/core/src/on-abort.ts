/** What an attempt of core gives a store beside the signal. */
export interface Abortable {
  /** Whether the options are the very ones that it made for the store, and their signal is its own still. */
  isOf(options: object): boolean;
  onAbort(listener: AbortListener): () => void;
}

export type AbortListener = (reason: unknown) => void;

// Registered, since a store's bundle and the receiver's can each hold this file.
export const ATTEMPT = Symbol.for('paylink.attempt');

/**
 * Calls back when the time of a run is over, at once where it is over already; gives what ends that. As a listener on
 * `options.signal`, but without the AbortSignal, which costs as much as verifying a notification.
 */
export function onAbort(options: { readonly signal: AbortSignal }, listener: AbortListener): () => void {
  const { [ATTEMPT]: attempt } = options as { readonly [ATTEMPT]?: Abortable };
  // What a wrapper has made of them may have a signal of its own.
  if (attempt?.isOf(options) === true) return attempt.onAbort(listener);
  const { signal } = options;
  const call = (): void => listener(signal.reason);
  if (signal.aborted) call();
  else signal.addEventListener('abort', call);
  return () => signal.removeEventListener('abort', call);
}
