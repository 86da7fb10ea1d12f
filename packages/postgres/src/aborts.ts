import type { RunOptions } from '@paylink/core';
import { onAbort } from '@paylink/core/idempotency';
import { remove } from './remove.js';

type Callback = (reason: unknown) => void;

/**
 * One listener for a whole run. A listener costs some microseconds, and a run waits five times for something that an abort must end.
 */
export class Aborts {
  #over: { readonly reason: unknown } | undefined;
  /** Two or three at a time. */
  readonly #waiting: Callback[] = [];

  /** Listens for as long as the run takes. @throws the signal's reason where it is aborted already */
  static async during<T>(options: Pick<RunOptions, 'signal'>, run: (aborts: Aborts) => Promise<T>): Promise<T> {
    const aborts = new Aborts();
    const stop = onAbort(options, aborts.#onAbort);
    try {
      aborts.throwIfAborted();
      return await run(aborts);
    } finally {
      stop();
    }
  }

  get aborted(): boolean {
    return this.#over !== undefined;
  }

  throwIfAborted(): void {
    if (this.#over !== undefined) throw this.#over.reason;
  }

  /** Calls back at the abort, in the order of the calls, until the given function is called. */
  on(callback: Callback): () => void {
    this.#waiting.push(callback);
    return () => remove(this.#waiting, callback);
  }

  /** Settles as `running` does, or rejects with the signal's reason at the abort, after a call of `beforeIt`. */
  race<T>(running: PromiseLike<T>, beforeIt?: Callback): Promise<T> {
    return new Promise((resolve, reject) => {
      const giveUp = (reason: unknown): void => {
        beforeIt?.(reason);
        reject(reason);
      };
      if (this.#over !== undefined) giveUp(this.#over.reason);
      const leave = this.on(giveUp);
      running.then(
        (value) => {
          leave();
          resolve(value);
        },
        (error: unknown) => {
          leave();
          reject(error);
        },
      );
    });
  }

  readonly #onAbort = (reason: unknown): void => {
    this.#over = { reason };
    try {
      this.#waiting.shift()?.(reason);
    } finally {
      // Also after one that throws, as a listener of the merchant's pool can.
      if (this.#waiting.length > 0) this.#onAbort(reason);
    }
  };
}
