import type { Assumed } from '../contract/assumed.js';

/**
 * Returns the milliseconds before the next attempt: a random part of a limit that doubles with each
 * failure. Full jitter, because deliveries that failed together must not retry together.
 */
export function retryDelay(
  failures: number,
  { firstRetryDelay, longestRetryDelay }: Pick<Assumed, 'firstRetryDelay' | 'longestRetryDelay'>,
): number {
  return Math.random() * Math.min(longestRetryDelay, firstRetryDelay * 2 ** failures);
}
