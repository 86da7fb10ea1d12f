import { check } from './errors.js';
import { LONGEST_TIMER } from './validate-options.js';

/** How long to wait for a promise that may never settle. */
export interface Bounds {
  /** The most milliseconds to wait. Default: no limit. */
  readonly milliseconds?: number | undefined;
  /** Each of them ends the wait when it aborts, or at once if it is already aborted. */
  readonly signals?: readonly (AbortSignal | undefined)[] | undefined;
  /**
   * Makes the rejection. Gets the signal that aborted, or undefined if the time has passed. Default:
   * the signal's reason, or an Error that names the time.
   */
  readonly reason?: ((aborted: AbortSignal | undefined) => unknown) | undefined;
}

/**
 * Settles as `running` does, or rejects at a bound. Ignores a later result or rejection of `running`.
 * The wait ends, the work does not: the work must listen to a signal itself.
 */
export function withinBounds<T>(running: PromiseLike<T>, bounds: Bounds): Promise<T> {
  const { milliseconds, signals = [], reason } = { __proto__: null, ...bounds } as Bounds;
  return new Promise<T>((resolve, reject) => {
    const timer = milliseconds === undefined ? undefined : setTimeout(giveUp, milliseconds);
    for (const signal of signals) signal?.addEventListener('abort', giveUp);
    // A signal that is already aborted sends no event.
    if (signals.some((signal) => signal?.aborted)) giveUp();
    running.then(
      (value) => {
        end();
        resolve(value);
      },
      (error: unknown) => {
        end();
        reject(error);
      },
    );

    function end(): void {
      clearTimeout(timer);
      for (const signal of signals) signal?.removeEventListener('abort', giveUp);
    }
    function giveUp(): void {
      end();
      const aborted = signals.find((signal) => signal?.aborted);
      if (reason !== undefined) reject(reason(aborted));
      else reject(aborted?.reason ?? new Error(`no answer in ${milliseconds} ms`));
    }
  });
}

/** Waits, 24 days at most. Rejects at a bound. */
export async function pause(milliseconds: number, bounds: Bounds = {}): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const over = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, Math.min(milliseconds, LONGEST_TIMER));
  });
  await withinBounds(over, bounds).finally(() => clearTimeout(timer));
}

/** @throws ConfigurationError unless `signal` is absent or an AbortSignal */
export function checkSignal(signal: unknown): asserts signal is AbortSignal | undefined {
  const { addEventListener, aborted } = Object(signal) as Partial<AbortSignal>;
  const isSignal = typeof addEventListener === 'function' && typeof aborted === 'boolean';
  check(signal === undefined || isSignal, 'signal', 'must be an AbortSignal');
}

/** The time limit of a run. */
export interface TimeLimit {
  /** Aborted when the time is over. */
  readonly signal: AbortSignal;
}

/**
 * Runs `work` under a time limit. Past it, aborts the signal with the error of `expired` first, so that
 * the work can end its transaction, and then rejects with that error.
 */
export function withTimeLimit<T>(
  milliseconds: number,
  work: (limit: TimeLimit) => Promise<T>,
  expired: () => Error,
): Promise<T> {
  const limit = new LazySignal();
  return new Promise<T>((resolve, reject) => {
    const timer = setTimeout(() => {
      const error = expired();
      limit.abort(error);
      reject(error);
    }, milliseconds);
    const settle = (settled: () => void): void => {
      clearTimeout(timer);
      settled();
    };
    work(limit).then(
      (value) => settle(() => resolve(value)),
      (error: unknown) => settle(() => reject(error)),
    );
  });
}

/** Makes the signal at its first read: most handlers read none, and it costs 8 % of a request. */
class LazySignal implements TimeLimit {
  #controller: AbortController | undefined;
  #error: Error | undefined;

  get signal(): AbortSignal {
    this.#controller ??= new AbortController();
    if (this.#error !== undefined) this.#controller.abort(this.#error);
    return this.#controller.signal;
  }

  abort(error: Error): void {
    this.#error = error;
    this.#controller?.abort(error);
  }
}
