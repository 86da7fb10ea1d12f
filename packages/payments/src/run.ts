/** One run for an order, or one look at it: its caller, its clock and its signal. */
import type { WebhookError } from '@paylink/core';
import type { PaymentOutcome, Source } from './contract.js';
import { keyOf, runError } from './order.js';

// Constants, because fake timers replace the globals, and a pause would never end.
export const now = performance.now.bind(performance);
export const startTimer = setTimeout;
export const stopTimer = clearTimeout;

/** Milliseconds after its time at which a silent run is lost: Workers end requests silently. */
export const LOST_AFTER = 1_000;

/** Who asks for which order. */
export type Call = Pick<PaymentOutcome, 'reference' | 'tenant' | 'source'>;

export class Run implements Call {
  readonly reference: string;
  readonly tenant: string | null;
  readonly source: Source;
  /** Names the order in a map. */
  readonly key: string;
  /** The value of `now()` when the caller came. */
  readonly start = now();
  /** The value of `now()` at which the run's time is over. */
  readonly end: number;
  /** The value of `now()` from which no question is sent. The second half is for the answer. */
  readonly askBy: number;
  #step = '';
  #isWanted = true;
  #isQueued = false;
  #error: WebhookError | undefined;
  #controller: AbortController | undefined;
  #rejectStep: ((error: WebhookError) => void) | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor({ reference, tenant, source }: Call, timeout: number) {
    this.reference = reference;
    this.tenant = tenant;
    this.source = source;
    this.key = keyOf({ reference, tenant });
    this.end = this.start + timeout;
    this.askBy = this.start + timeout / 2;
  }

  /** Aborts when the run's time is over. */
  get signal(): AbortSignal {
    this.#controller ??= new AbortController();
    return this.#controller.signal;
  }

  /** Names the step that the run waits for, in messages. */
  get step(): string {
    return this.#step;
  }

  /** The error of a run whose time is over. */
  get error(): WebhookError | undefined {
    return this.#error;
  }

  /** True if the run has not told its end long after its time. */
  get isLost(): boolean {
    return now() >= this.end + LOST_AFTER;
  }

  /** Waits for a step, at most until the run's time is over. Starts no step afterwards. */
  wait<T>(step: string, work: () => PromiseLike<T> | T, late?: string): Promise<T> {
    const left = Math.ceil(this.end - now());
    const message = late ?? `${step} did not settle in the ${left} ms that were left`;
    return this.#wait(step, work, this.end, () => runError('handler_timeout', message));
  }

  /** Waits in a queue, which the run leaves at a time, or when its caller stops waiting. */
  async queue(
    step: string,
    work: () => PromiseLike<void>,
    until: number,
    reason: () => WebhookError,
  ): Promise<void> {
    if (!this.#isWanted) this.#fail(unwanted());
    this.#isQueued = true;
    try {
      await this.#wait(step, work, until, reason);
    } finally {
      this.#isQueued = false;
    }
    // Timers are late if something blocks the event loop.
    if (now() >= until) this.#fail(reason());
  }

  /** Tells the run that its caller stopped waiting. A run that only queues then ends. */
  abandon(): void {
    this.#isWanted = false;
    if (this.#isQueued) this.#finish(unwanted());
  }

  /** Stops the clock of a run that has ended. */
  stop(): void {
    stopTimer(this.#timer);
  }

  #wait<T>(
    step: string,
    work: () => PromiseLike<T> | T,
    until: number,
    reason: () => WebhookError,
  ): Promise<T> {
    this.#step = step;
    stopTimer(this.#timer);
    return new Promise((resolve, reject) => {
      const left = until - now();
      if (this.#error === undefined && left <= 0) this.#finish(reason());
      if (this.#error !== undefined) throw this.#error;
      this.#rejectStep = reject;
      this.#timer = startTimer(() => this.#finish(reason()), left);
      // The callers' own timers keep the process alive.
      (this.#timer as Partial<NodeJS.Timeout>).unref?.();
      // The result of a thenable can be a thenable that never settles.
      Promise.resolve(work()).then(resolve, reject);
    });
  }

  #fail(error: WebhookError): never {
    this.#finish(error);
    throw this.#error ?? error;
  }

  #finish(error: WebhookError): void {
    this.#error ??= error;
    stopTimer(this.#timer);
    this.#controller?.abort(this.#error);
    this.#rejectStep?.(this.#error);
  }
}

function unwanted(): WebhookError {
  return runError('handler_timeout', 'the caller stopped waiting');
}
