import { pause } from '@paylink/core/internal';

/** Milliseconds to wait after a 429 without a Retry-After. Doubles with each refusal. */
const FIRST_PAUSE = 1_000;
const LONGEST_PAUSE = 60_000;

/**
 * Maximum random delay in milliseconds, so that processes refused together do not retry together.
 */
const JITTER = 250;

export interface Pace {
  /** A value of `performance.now()` after which the run asks nothing. */
  readonly end: number;
  readonly signal: AbortSignal | undefined;
  /** Number of refusals after which the error of a reference is final. */
  readonly mostRefusals: number;
  readonly onPause: (milliseconds: number) => void;
}

/** The pause that all references of a run share if the service refuses one. */
export class RateLimit {
  readonly #pace: Pace;
  #until = 0;
  #refusals = 0;
  /** True if the service rejected the client's key. */
  keyRefused = false;

  constructor(pace: Pace) {
    this.#pace = pace;
  }

  /**
   * True if the run asks nothing anymore: the run ends before the pause, or the key is rejected.
   */
  get isOver(): boolean {
    return this.keyRefused || Math.max(performance.now(), this.#until) >= this.#pace.end;
  }

  /**
   * Asks after the pause, and again after a refusal. Resolves with undefined if the run ends first.
   *
   * @throws the error of `question`, or the reason of the signal
   */
  async ask<T>(question: () => Promise<T>): Promise<T | undefined> {
    const { signal, mostRefusals } = this.#pace;
    for (let refusals = 1; ; refusals++) {
      for (let wait = 1; wait > 0;) {
        signal?.throwIfAborted();
        if (this.isOver) return undefined;
        wait = this.#until - performance.now();
        if (wait > 0) await pause(wait, { signals: [signal] });
      }
      try {
        const answer = await question();
        this.#refusals = 0;
        return answer;
      } catch (error) {
        const { cause } = Object(error) as { readonly cause?: unknown };
        // The service would refuse every other request too, and may lock the account.
        this.keyRefused ||= isOfKey(error) || isOfKey(cause);
        const isRefused = this.#refused(error) || this.#refused(cause);
        if (!isRefused || refusals === mostRefusals) throw error;
      }
    }
  }

  /** Returns true if the error is a 429, and then starts or extends the pause. */
  #refused(error: unknown): boolean {
    const { status, code, retryAfter } = Object(error) as Refusal;
    const delay = isDelay(retryAfter) ? retryAfter : undefined;
    if (delay === undefined && status !== 429 && code !== 'rate_limited') return false;
    const asked = delay ?? Math.min(LONGEST_PAUSE, FIRST_PAUSE * 2 ** this.#refusals);
    const isNew = performance.now() >= this.#until;
    const until = performance.now() + asked + Math.random() * JITTER;
    this.#until = Math.max(this.#until, until);
    // Requests that were running when the pause began are refused too. Counts them as one refusal.
    if (isNew) {
      this.#refusals++;
      this.#pace.onPause(asked);
    }
    return true;
  }
}

/** The fields of a PaylinkError. */
interface Refusal {
  readonly status?: unknown;
  readonly code?: unknown;
  /** Milliseconds. */
  readonly retryAfter?: unknown;
}

function isOfKey(error: unknown): boolean {
  const { status, code } = Object(error) as Refusal;
  return status === 401 || code === 'unauthorized';
}

function isDelay(retryAfter: unknown): retryAfter is number {
  return Number.isFinite(retryAfter) && (retryAfter as number) >= 0;
}
