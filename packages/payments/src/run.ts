/** One run for an order, or one look at it: its caller, its time and its signal. */
import { WebhookError } from '@paylink/core';
import type { Source } from './contract.js';
import { now, startTimer, stopTimer } from './pace.js';

/** Milliseconds for which each caller lets later pages pass in the line of questions. */
const YIELDS_FOR: Readonly<Record<Source, number>> = {
  settle: 0,
  webhook: 5_000,
  reconcile: 60_000,
};

/** Who asks for which order. */
export interface Call {
  readonly reference: string;
  readonly tenant: string | null;
  readonly source: Source;
}

export class Run implements Call {
  readonly reference: string;
  readonly tenant: string | null;
  readonly source: Source;
  /** The value of `now()` when the caller came, or when the run began. */
  start = now();
  /** The value of `now()` after which no question is sent. A page and a webhook then give up. */
  readonly end: number;
  /** The question of the lowest rank goes next. Nobody is passed for ever. */
  rank: number;
  /** What the run waits for, for people. */
  step = '';
  /** A `credit` that is still running after the run's time. */
  unfinished: Promise<unknown> | undefined;
  /** Set while the question of this run waits in the line. */
  onHurry: ((caller: Run) => void) | undefined;
  readonly #timeout: number;
  readonly #controller = new AbortController();
  #timer: ReturnType<typeof setTimeout> | undefined;
  #giveUp: (() => void) | undefined;

  constructor({ reference, tenant, source }: Call, timeout: number, end?: number) {
    this.reference = reference;
    this.tenant = tenant;
    this.source = source;
    this.end = end ?? this.start + timeout;
    this.rank = this.start + YIELDS_FOR[source];
    this.#timeout = timeout;
  }

  /** Aborts when the run's time is over. */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Moves the question up for a caller who joins. @throws NotAsked if the caller cannot wait */
  hurry(caller: Run): void {
    this.rank = Math.min(this.rank, caller.rank);
    this.onHurry?.(caller);
  }

  /**
   * Waits for a step of the run, at most until its time is over.
   *
   * @param milliseconds for the schedule, whose steps count alone: it may wait in line for long
   */
  wait<T>(
    step: string,
    work: () => PromiseLike<T> | T,
    toReason: (waited: number) => WebhookError = (waited) => unsettled(step, waited),
    milliseconds = this.#timeout,
  ): Promise<T> {
    this.step = step;
    const began = now();
    if (this.source === 'reconcile') this.stop();
    this.#timer ??= this.#startTimer(this.source === 'reconcile' ? milliseconds : this.end - began);
    return new Promise((resolve, reject) => {
      this.signal.throwIfAborted();
      this.#giveUp = () => {
        const reason = toReason(now() - began);
        this.#controller.abort(reason);
        reject(reason);
      };
      // The result of a thenable can be a thenable that never settles.
      Promise.resolve(work()).then(resolve, reject);
    });
  }

  stop(): void {
    stopTimer(this.#timer);
    this.#timer = undefined;
  }

  #startTimer(milliseconds: number): ReturnType<typeof setTimeout> {
    const timer = startTimer(() => this.#giveUp?.(), Math.max(1, milliseconds));
    // The callers' own timers keep the process alive. Nobody may wait for the run any more.
    (timer as Partial<NodeJS.Timeout>).unref?.();
    return timer;
  }
}

function unsettled(step: string, waited: number): WebhookError {
  const message = `${step} did not settle in the ${Math.ceil(waited)} ms that were left`;
  return new WebhookError('handler_timeout', { message });
}
