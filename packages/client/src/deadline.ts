import { withinBounds } from '@paylink/core';
import { PaylinkError } from './errors.js';

export interface Bounds {
  readonly milliseconds: number;
  /** The error when the time has passed. */
  readonly late: () => PaylinkError;
  /** The caller's own signal. */
  readonly signal: AbortSignal | undefined;
  /** For the error of an abort, so that the caller can retry with the same key. */
  readonly idempotencyKey?: string | undefined;
}

/**
 * Runs `work` with a signal that is aborted with `late()` when the time has passed, or with PaylinkError `aborted` when the caller
 * aborts. How it then ends is for `work`, which may know more: a status whose body did not come.
 */
export async function within<T>(
  { milliseconds, late, signal, idempotencyKey }: Bounds,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  throwIfAborted(signal, idempotencyKey);
  const controller = new AbortController();
  const running = work(controller.signal);
  const reason = (aborted: AbortSignal | undefined): void =>
    controller.abort(aborted === undefined ? late() : abortionBy(aborted, idempotencyKey));
  await withinBounds(running, { milliseconds, signals: [signal], reason }).catch(() => undefined);
  return running;
}

/** The longest that a timer can be set for, in milliseconds. A longer one would fire at once. */
const LONGEST_TIMER = 2 ** 31 - 1;

/** Waits, for 24 days at most, or rejects with PaylinkError `aborted` as soon as the caller aborts. */
export async function pause(
  milliseconds: number,
  { signal, idempotencyKey }: Pick<Bounds, 'signal' | 'idempotencyKey'>,
): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const over = new Promise<void>(
    (resolve) => (timer = setTimeout(resolve, Math.min(milliseconds, LONGEST_TIMER))),
  );
  try {
    await untilAborted(over, signal, idempotencyKey);
  } finally {
    clearTimeout(timer);
  }
}

/** @throws PaylinkError `aborted` */
export function throwIfAborted(signal: AbortSignal | undefined, idempotencyKey?: string): void {
  if (signal?.aborted === true) throw abortionBy(signal, idempotencyKey);
}

/** Settles as `promise` does, or rejects with PaylinkError `aborted` as soon as the caller aborts. */
export function untilAborted<T>(
  promise: Promise<T>,
  signal: AbortSignal | undefined,
  idempotencyKey?: string,
): Promise<T> {
  return withinBounds(promise, {
    signals: [signal],
    reason: (aborted) => abortionBy(aborted!, idempotencyKey),
  });
}

function abortionBy(signal: AbortSignal, idempotencyKey: string | undefined): PaylinkError {
  return new PaylinkError('aborted', 'the caller aborted', {
    idempotencyKey,
    cause: signal.reason,
  });
}
