import { check } from './errors.js';
import { LazyAbort } from './lazy-abort.js';
import { LONGEST_TIMER } from './validate-options.js';

export interface Bounds {
  /** Default: no limit. */
  readonly milliseconds?: number | undefined;
  /** Each signal ends the wait on abort, or immediately if already aborted. */
  readonly signals?: readonly (AbortSignal | LazyAbort | undefined)[] | undefined;
  /**
   * Makes the rejection. Receives the aborted signal, or undefined after the time limit. Default:
   * the signal's reason, or an Error that names the time.
   */
  readonly reason?: ((aborted: Pick<AbortSignal, 'reason'> | undefined) => unknown) | undefined;
}

/**
 * Settles like `running`, or rejects when a limit is reached. Ignores a later result or rejection
 * of `running`. Ends the wait but not the work: the work must listen to a signal itself.
 */
export function withinBounds<T>(running: PromiseLike<T>, bounds: Bounds): Promise<T> {
  const own = { __proto__: null, ...bounds } as Bounds;
  const { milliseconds, signals = [], reason } = own;
  return new Promise<T>((resolve, reject) => {
    const delay = Math.min(milliseconds ?? 0, LONGEST_TIMER);
    const timer = milliseconds === undefined ? undefined : setTimeout(giveUp, delay);
    for (const signal of signals) if (signal !== undefined) waitsFor(signal).add(giveUp);
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
      for (const signal of signals) if (signal !== undefined) waitsFor(signal).delete(giveUp);
    }
    function giveUp(): void {
      end();
      const aborted = signals.find((signal) => signal?.aborted);
      if (reason !== undefined) reject(reason(aborted));
      else reject(aborted?.reason ?? new Error(`no answer in ${milliseconds} ms`));
    }
  });
}

/** One listener serves all waits for a signal, because Node warns of more than ten. */
class Waits {
  readonly #signal: AbortSignal;
  readonly #waits = new Set<() => void>();
  readonly #giveUp = (): void => this.#waits.forEach((giveUp) => giveUp());

  constructor(signal: AbortSignal) {
    this.#signal = signal;
  }

  add(giveUp: () => void): void {
    if (this.#waits.size === 0) this.#signal.addEventListener('abort', this.#giveUp);
    this.#waits.add(giveUp);
  }

  delete(giveUp: () => void): void {
    this.#waits.delete(giveUp);
    if (this.#waits.size === 0) this.#signal.removeEventListener('abort', this.#giveUp);
  }
}

const waits = new WeakMap<AbortSignal, Waits>();

function waitsFor(signal: AbortSignal | LazyAbort): Pick<Waits, 'add' | 'delete'> {
  if (signal instanceof LazyAbort) return signal;
  const known = waits.get(signal) ?? new Waits(signal);
  waits.set(signal, known);
  return known;
}

export function checkSignal(signal: unknown): asserts signal is AbortSignal | undefined {
  const { addEventListener, aborted } = Object(signal) as Partial<AbortSignal>;
  const isSignal = typeof addEventListener === 'function' && typeof aborted === 'boolean';
  check(signal === undefined || isSignal, 'signal', 'must be an AbortSignal');
}
