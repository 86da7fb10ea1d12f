export interface RetryDelays {
  readonly firstRetryDelay: number;
  readonly longestRetryDelay: number;
}

/**
 * Returns the milliseconds before the next attempt: a random part of a limit that doubles with each
 * failure. Full jitter, because deliveries that failed together must not retry together.
 */
export function retryDelay(
  failures: number,
  { firstRetryDelay, longestRetryDelay }: RetryDelays,
): number {
  return Math.random() * Math.min(longestRetryDelay, firstRetryDelay * 2 ** failures);
}
