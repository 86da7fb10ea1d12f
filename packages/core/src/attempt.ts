import { fault, type WebhookError } from './errors.js';

type Waiting = 'secret_unavailable' | 'store_unavailable' | 'confirm_unavailable' | 'handler_timeout';

/** One attempt to handle an event: what it waits for, whether its time is over, and the signal that says so. */
export class Attempt {
  /** The code of the reply when the time is over. */
  waitingFor: Waiting = 'handler_timeout';
  #controller: AbortController | undefined;
  #expired: WebhookError | undefined;

  /** Made at the first read: most handlers never read it, and an AbortController costs more than verifying a signature. */
  get signal(): AbortSignal {
    this.#controller ??= new AbortController();
    if (this.#expired !== undefined) this.#controller.abort(this.#expired);
    return this.#controller.signal;
  }

  contextOf(host: unknown, extras: object): object {
    // eslint-disable-next-line @typescript-eslint/no-this-alias -- inside the getter `this` is the context
    const attempt = this;
    return {
      ...(host as object),
      ...extras,
      get signal() {
        return attempt.signal;
      },
    };
  }

  /** Starts the next step, unless the reply has gone out: nothing may take effect after it. */
  step<T>(waitingFor: Waiting, run: () => T): T {
    if (this.#expired !== undefined) throw this.#expired;
    this.waitingFor = waitingFor;
    return run();
  }

  expire(message: string): WebhookError {
    this.#expired = fault(this.waitingFor, message);
    this.#controller?.abort(this.#expired);
    return this.#expired;
  }
}
