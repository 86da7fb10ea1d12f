/** One run for an order, or one look at it: its caller, its clock and its signal. */
import type { WebhookError } from '@paylink/core';
import type { PaymentOutcome, Source } from './contract.js';
import { keyOf, runError } from './order.js';

// Constants, because fake timers replace the globals, and a pause would never end.
export const now = performance.now.bind(performance);
export const startTimer = setTimeout;
export const stopTimer = clearTimeout;

/** Milliseconds for which each caller lets later pages pass in the line of questions. */
const YIELDS_FOR: Readonly<Record<Source, number>> = {
  settle: 0,
  webhook: 5_000,
  reconcile: 60_000,
};

/** Milliseconds after its time at which a run has died. */
const DEAD_AFTER = 5_000;

/** Who asks for which order. */
export type Call = Pick<PaymentOutcome, 'reference' | 'tenant' | 'source'>;

export class Run implements Call {
  readonly reference: string;
  readonly tenant: string | null;
  readonly source: Source;
  /** Names the order in a map. */
  readonly key: string;
  /** The value of `now()` when the caller came, or when the run began. */
  start = now();
  /** The value of `now()` after which no question is sent. A page and a webhook then give up. */
  readonly end: number;
  /** The question of the lowest rank goes next. Nobody is passed for ever. */
  rank: number;
  /** Names the step that the run waits for, in messages. */
  step = '';
  /** The value of `now()` at which the time of the step is over. */
  deadline = Infinity;
  /** A `credit` that is still running after the run's time. */
  unfinished: Promise<unknown> | undefined;
  /** Who waits for this run beside its own caller. */
  readonly callers = new Set<Run>();
  /** Set while the question of this run waits in the line. */
  onHurry: (() => void) | undefined;
  /** Ends the present wait. */
  leave: ((error: WebhookError) => void) | undefined;
  readonly #timeout: number;
  readonly #controller = new AbortController();
  /** Aborts when the run's time is over. */
  readonly signal: AbortSignal = this.#controller.signal;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #giveUp: (() => void) | undefined;

  constructor(call: Call, timeout: number, end?: number) {
    const { reference, tenant, source } = call;
    this.key = keyOf(call);
    this.reference = reference;
    this.tenant = tenant;
    this.source = source;
    this.end = end ?? this.start + timeout;
    this.rank = this.start + YIELDS_FOR[source];
    this.#timeout = timeout;
  }

  /** True if the run did not tell its end: a Worker ends the work of a request without a word. */
  get isDead(): boolean {
    return now() > this.deadline + DEAD_AFTER;
  }

  /** Waits for another's run, whose question moves up. @throws NotAsked if it comes too late */
  async join<T>(other: Run, step: string, work: Promise<T>, toReason: () => WebhookError) {
    const waiting = this.wait(step, () => work, toReason);
    other.callers.add(this);
    other.rank = Math.min(other.rank, this.rank);
    other.onHurry?.();
    return waiting.finally(() => other.callers.delete(this));
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
    if (this.source === 'reconcile') this.#startTimer(began + milliseconds);
    else if (this.#timer === undefined) this.#startTimer(this.end);
    return new Promise((resolve, reject) => {
      if (this.signal.aborted) throw this.signal.reason;
      this.leave = reject;
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
  }

  #startTimer(deadline: number): void {
    this.stop();
    this.deadline = deadline;
    this.#timer = startTimer(() => this.#giveUp?.(), Math.max(1, deadline - now()));
    // The callers' own timers keep the process alive. Nobody may wait for the run any more.
    (this.#timer as Partial<NodeJS.Timeout>).unref?.();
  }
}

function unsettled(step: string, waited: number): WebhookError {
  const left = `the ${Math.ceil(waited)} ms that were left`;
  return runError('handler_timeout', `${step} did not settle in ${left}`);
}
