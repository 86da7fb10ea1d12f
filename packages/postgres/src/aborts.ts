/**
 * One listener on a signal for a whole run. A listener costs some microseconds, and a run waits five times for something that an
 * abort must end.
 */
export class Aborts {
  readonly #signal: AbortSignal;
  /** Two or three at a time. */
  readonly #waiting: (() => void)[] = [];

  private constructor(signal: AbortSignal) {
    this.#signal = signal;
  }

  /** Listens for as long as the run takes. @throws the signal's reason where it is aborted already */
  static async during<T>(signal: AbortSignal, run: (aborts: Aborts) => Promise<T>): Promise<T> {
    signal.throwIfAborted();
    const aborts = new Aborts(signal);
    signal.addEventListener('abort', aborts.#onAbort);
    try {
      return await run(aborts);
    } finally {
      signal.removeEventListener('abort', aborts.#onAbort);
    }
  }

  get aborted(): boolean {
    return this.#signal.aborted;
  }

  throwIfAborted(): void {
    this.#signal.throwIfAborted();
  }

  /** Calls back at the abort, in the order of the calls, until the given function is called. */
  on(callback: () => void): () => void {
    this.#waiting.push(callback);
    return () => {
      const index = this.#waiting.indexOf(callback);
      if (index >= 0) this.#waiting.splice(index, 1);
    };
  }

  /** Settles as `running` does, or rejects with the signal's reason at the abort, after a call of `onAbort`. */
  race<T>(running: PromiseLike<T>, onAbort?: (reason: unknown) => void): Promise<T> {
    return new Promise((resolve, reject) => {
      const giveUp = (): void => {
        const reason: unknown = this.#signal.reason;
        onAbort?.(reason);
        reject(reason);
      };
      if (this.aborted) giveUp();
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

  readonly #onAbort = (): void => {
    while (this.#waiting.length > 0) this.#waiting.shift()!();
  };
}
