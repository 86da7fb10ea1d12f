import { check } from './errors.js';
import { LONGEST_TIMER } from './validate-options.js';

export interface Bounds {
  /** Default: no limit. */
  readonly milliseconds?: number | undefined;
  /** Each signal ends the wait on abort, or at once if already aborted. */
  readonly signals?: readonly (AbortSignal | undefined)[] | undefined;
  /**
   * Makes the rejection. Gets the aborted signal, or undefined after the time limit. Default: the
   * signal's reason, or an Error that names the time.
   */
  readonly reason?: ((aborted: AbortSignal | undefined) => unknown) | undefined;
  /** True if the wait alone must not keep the process alive. */
  readonly isBackground?: boolean | undefined;
}

/**
 * Settles like `running`, or rejects at a limit. Ignores a later result or rejection of `running`.
 * Ends the wait but not the work: the work must listen to a signal itself.
 */
export function withinBounds<T>(running: PromiseLike<T>, bounds: Bounds): Promise<T> {
  const own = { __proto__: null, ...bounds } as Bounds;
  const { milliseconds, signals = [], reason, isBackground = false } = own;
  return new Promise<T>((resolve, reject) => {
    const delay = Math.min(milliseconds ?? 0, LONGEST_TIMER);
    const timer = milliseconds === undefined ? undefined : setTimeout(giveUp, delay);
    if (isBackground) (timer as { unref?: () => void } | undefined)?.unref?.();
    for (const signal of signals) signal?.addEventListener('abort', giveUp);
    // An already aborted signal fires no event.
    if (signals.some((signal) => signal?.aborted)) giveUp();
    // The result of a thenable can be a thenable that never settles.
    Promise.resolve(running).then(
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

/** @throws ConfigurationError unless `signal` is undefined or an AbortSignal */
export function checkSignal(signal: unknown): asserts signal is AbortSignal | undefined {
  const { addEventListener, aborted } = Object(signal) as Partial<AbortSignal>;
  const isSignal = typeof addEventListener === 'function' && typeof aborted === 'boolean';
  check(signal === undefined || isSignal, 'signal', 'must be an AbortSignal');
}
