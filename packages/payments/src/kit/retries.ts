import { pause } from '@paylink/core/internal';

const ATTEMPTS = 3;

/** Maximum wait before the second attempt, in milliseconds. Grows with each attempt. */
const LONGEST_WAIT = 25;

/**
 * Runs `attempt` again after a serialisation failure or a deadlock, three times at most, with a
 * short random wait.
 *
 * @throws the error of the last attempt, or the reason of `signal`
 */
export async function withRetries<T>(
  {
    signal,
    isWorthRetrying,
  }: {
    /** No further attempt starts after the abort. */
    readonly signal?: AbortSignal | undefined;
    /** Returns true if the database rolled the attempt back in favour of another transaction. */
    readonly isWorthRetrying: (error: unknown) => boolean;
  },
  attempt: () => Promise<T>,
): Promise<T> {
  for (let number = 1; ; number++) {
    try {
      return await attempt();
    } catch (error) {
      if (number === ATTEMPTS || signal?.aborted === true || !isWorthRetrying(error)) throw error;
    }
    await pause(Math.random() * LONGEST_WAIT * number, { signals: [signal] });
  }
}
