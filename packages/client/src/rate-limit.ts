import { pause } from './deadline.js';
import { isPaylinkError } from './errors.js';
import { isLimited } from './retry.js';

/** Milliseconds to wait where the service says 429 and not for how long; doubled with each refusal up to the longest. */
const FIRST_PAUSE = 1_000;
const LONGEST_PAUSE = 60_000;

/** Milliseconds of jitter after a pause, so that processes that were refused together do not ask again together. */
const JITTER = 250;

/** The pause that all references of a run share when the service refuses one of them by its rate limit. */
export class RateLimit {
  readonly #end: number;
  readonly #signal: AbortSignal | undefined;
  readonly #onPause: (milliseconds: number) => void;
  #until = 0;
  #refusals = 0;

  /** @param end of `performance.now()`, from which on nothing is asked */
  constructor(end: number, signal: AbortSignal | undefined, onPause: (milliseconds: number) => void) {
    this.#end = end;
    this.#signal = signal;
    this.#onPause = onPause;
  }

  /** Pauses that were asked for since the last answer. */
  get refusals(): number {
    return this.#refusals;
  }

  /** Whether nothing can be asked any more, since the time of the run ends before the pause does. */
  get isOver(): boolean {
    return Math.max(performance.now(), this.#until) >= this.#end;
  }

  /** Waits for the end of the pause. False where the run ends before. @throws PaylinkError `aborted` */
  async mayAsk(): Promise<boolean> {
    while (!this.isOver) {
      const wait = this.#until - performance.now();
      if (wait <= 0) return true;
      await pause(wait, { signal: this.#signal });
    }
    return false;
  }

  /** Notes an answer of the service. */
  answered(): void {
    this.#refusals = 0;
  }

  /** Begins or prolongs the pause where the error is a refusal by the rate limit, and says whether it is one. */
  refused(error: unknown): boolean {
    if (!isPaylinkError(error) || !isLimited(error)) return false;
    const asked = error.retryAfter ?? Math.min(LONGEST_PAUSE, FIRST_PAUSE * 2 ** this.#refusals);
    const until = performance.now() + asked + Math.random() * JITTER;
    // Those that were under way when the pause began are refused too: that is one refusal, not many.
    if (performance.now() >= this.#until) {
      this.#refusals++;
      this.#onPause(asked);
    }
    this.#until = Math.max(this.#until, until);
    return true;
  }
}
