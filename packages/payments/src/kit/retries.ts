import { pause } from '@paylink/core';

const ATTEMPTS = 3;

/** The longest wait before the second attempt in milliseconds. It grows with each attempt. */
const LONGEST_WAIT = 25;

/**
 * Runs `attempt` again after a serialisation failure or a deadlock, three times at most in all, with
 * a short random wait.
 *
 * @throws the error of the last attempt, or the reason of `signal`
 */
export async function withRetries<T>(
  {
    signal,
    isWorthRetrying,
  }: {
    /** On abort no further attempt starts. */
    readonly signal: AbortSignal;
    /** Whether the database rolled the attempt back in favour of another transaction. */
    readonly isWorthRetrying: (error: unknown) => boolean;
  },
  attempt: () => Promise<T>,
): Promise<T> {
  for (let number = 1; ; number++) {
    try {
      return await attempt();
    } catch (error) {
      if (number === ATTEMPTS || signal.aborted || !isWorthRetrying(error)) throw error;
    }
    await pause(Math.random() * LONGEST_WAIT * number, { signals: [signal] });
  }
}
