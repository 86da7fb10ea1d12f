import type { RateLimit } from '../assumed.js';

/** Counts requests in windows of one length: the first request of a window opens it. */
export class RateLimiter {
  readonly #limit: RateLimit;
  #windowEnd = 0;
  #left = 0;

  constructor(limit: RateLimit) {
    this.#limit = limit;
  }

  /**
   * Takes one of the window's requests. Gives the whole seconds until the next window if none is
   * left.
   */
  take(): number | undefined {
    if (this.#limit === 'off') return undefined;
    const { requests, seconds } = this.#limit;
    const now = Date.now();
    // A clock that was set back opens a new window too.
    if (now >= this.#windowEnd || now < this.#windowEnd - seconds * 1_000) {
      this.#windowEnd = now + seconds * 1_000;
      this.#left = requests;
    }
    if (this.#left === 0) return Math.ceil((this.#windowEnd - now) / 1_000);
    this.#left--;
    return undefined;
  }

  /** Opens a new window at the next request. */
  reset(): void {
    this.#windowEnd = 0;
  }
}
