import { PaylinkError } from './errors.js';

export interface Bounds {
  readonly milliseconds: number;
  /** What the time's end is told as. */
  readonly late: () => PaylinkError;
  /** The caller's own signal. */
  readonly signal: AbortSignal | undefined;
  /** For the error of an abortion, so that the caller can come again with it. */
  readonly idempotencyKey?: string | undefined;
}

/**
 * Runs `work` with a signal that is aborted when the time is over, with what `late` gives, or when the caller aborts, with
 * PaylinkError `aborted`. It is for `work` to heed it.
 */
export async function within<T>(
  { milliseconds, late, signal, idempotencyKey }: Bounds,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  throwIfAborted(signal, idempotencyKey);
  const controller = new AbortController();
  const timer = setTimeout(() => {
    controller.abort(late());
  }, milliseconds);
  const abort = (): void => {
    controller.abort(abortionBy(signal!, idempotencyKey));
  };
  signal?.addEventListener('abort', abort);
  try {
    return await work(controller.signal);
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', abort);
  }
}

/** Waits, or rejects with PaylinkError `aborted` as soon as the caller does. */
export async function pause(
  milliseconds: number,
  { signal, idempotencyKey }: Pick<Bounds, 'signal' | 'idempotencyKey'>,
): Promise<void> {
  throwIfAborted(signal, idempotencyKey);
  await new Promise<void>((resolve, reject) => {
    const abort = (): void => {
      clearTimeout(timer);
      reject(abortionBy(signal!, idempotencyKey));
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', abort);
      resolve();
    }, milliseconds);
    signal?.addEventListener('abort', abort, { once: true });
  });
}

/** @throws PaylinkError `aborted` */
export function throwIfAborted(signal: AbortSignal | undefined, idempotencyKey?: string): void {
  if (signal?.aborted === true) throw abortionBy(signal, idempotencyKey);
}

/**
 * Settles as `promise` does, or rejects with the signal's reason at once, whether anybody else heeds the signal or not. What
 * comes of a promise that was given up is ignored, a rejection too.
 */
export function untilAborted<T>(promise: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (signal === undefined) return promise;
  return new Promise<T>((resolve, reject) => {
    const abort = (): void => {
      reject(signal.reason);
    };
    if (signal.aborted) abort();
    signal.addEventListener('abort', abort, { once: true });
    promise.then(resolve, reject).finally(() => {
      signal.removeEventListener('abort', abort);
    });
  });
}

function abortionBy(signal: AbortSignal, idempotencyKey: string | undefined): PaylinkError {
  return new PaylinkError('aborted', 'the caller aborted', { idempotencyKey, cause: signal.reason });
}
