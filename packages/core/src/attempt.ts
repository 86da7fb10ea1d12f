import { fault, type WebhookError } from './errors.js';
import type { RunOptions } from './idempotency.js';
import { ATTEMPT, type Abortable, type AbortListener } from './on-abort.js';

type Waiting = 'secret_unavailable' | 'store_unavailable' | 'confirm_unavailable' | 'handler_timeout';

/** One getter for all attempts: with one for each, V8 keeps what an attempt holds until the next full collection of garbage. */
const SIGNAL = {
  configurable: true,
  enumerable: true,
  get(this: { readonly [ATTEMPT]: Attempt }) {
    return this[ATTEMPT].signal;
  },
};

/** One attempt to handle an event: what it waits for, whether its time is over, and the signal that says so. */
export class Attempt implements Abortable {
  /** The code of the reply when the time is over. */
  waitingFor: Waiting = 'handler_timeout';
  #controller: AbortController | undefined;
  #expired: WebhookError | undefined;
  #listeners: Set<AbortListener> | undefined;
  #options: object | undefined;

  /** Made at the first read: most handlers never read it, and an AbortController costs more than verifying a signature. */
  get signal(): AbortSignal {
    this.#controller ??= new AbortController();
    if (this.#expired !== undefined) this.#controller.abort(this.#expired);
    return this.#controller.signal;
  }

  onAbort(listener: AbortListener): () => void {
    const listeners = (this.#listeners ??= new Set());
    if (this.#expired !== undefined) listener(this.#expired);
    else listeners.add(listener);
    return () => listeners.delete(listener);
  }

  /** What a store is given of the run. */
  optionsOf(turn: string): RunOptions {
    return (this.#options = this.withSignal({ turn }));
  }

  isOf(options: object): boolean {
    return options === this.#options && Object.getOwnPropertyDescriptor(options, 'signal')!.get === SIGNAL.get;
  }

  /** Adds the signal, which is made where it is read. */
  withSignal<Target extends object>(target: Target): Target & { readonly signal: AbortSignal } {
    Object.defineProperty(target, ATTEMPT, { value: this });
    return Object.defineProperty(target, 'signal', SIGNAL) as Target & { readonly signal: AbortSignal };
  }

  /** Starts the next step, unless the reply has gone out: nothing may take effect after it. */
  step<T>(waitingFor: Waiting, run: () => T): T {
    if (this.#expired !== undefined) throw this.#expired;
    this.waitingFor = waitingFor;
    return run();
  }

  expire(message: string): WebhookError {
    this.#expired = fault(this.waitingFor, message);
    // The store first: it ends its transaction before other code learns that the time is over.
    this.#listeners?.forEach((listener) => {
      try {
        listener(this.#expired);
      } catch (error) {
        // As the listener of an AbortSignal does: the others are called, and the sender gets its reply.
        queueMicrotask(() => {
          throw error;
        });
      }
    });
    this.#controller?.abort(this.#expired);
    return this.#expired;
  }
}
