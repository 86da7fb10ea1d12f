import type { RateLimit } from '../contract/assumed.js';

/** Counts requests in fixed windows. The first request opens a window. */
export class RateLimiter {
  readonly #limit: RateLimit;
  #windowEnd = 0;
  #left = 0;

  constructor(limit: RateLimit) {
    this.#limit = limit;
  }

  /** Counts one request. Returns the whole seconds until the next window if the window is full. */
  take(): number | undefined {
    if (this.#limit === 'off') return undefined;
    const { requests, seconds } = this.#limit;
    const now = Date.now();
    // A clock that was set back also opens a new window.
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
