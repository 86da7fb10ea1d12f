import { LazyAbort } from './lazy-abort.js';

/**
 * The context of a handler. The getter of `signal` is on the class, because a getter on each object
 * costs 4 % of a request on node:http.
 */
export class DeliveryContext {
  readonly #abort = new LazyAbort();

  constructor(host: object) {
    Object.assign(this, host);
  }

  get signal(): AbortSignal {
    return this.#abort.signal;
  }

  /** Ignores a `signal` of the host, which does not know the time limit. */
  set signal(_: AbortSignal) {
    return;
  }

  /**
   * Returns the abort of the context without making its signal, or undefined for another object.
   * Static, so that a handler finds no `abort` in its context.
   */
  static abortOf(context: unknown): LazyAbort | undefined {
    const isOurs = typeof context === 'object' && context !== null && #abort in context;
    return isOurs ? context.#abort : undefined;
  }
}
