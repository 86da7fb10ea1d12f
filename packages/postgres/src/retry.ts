import { setTimeout as pause } from 'node:timers/promises';
import { sqlStates } from './sql-state.js';

const ATTEMPTS = 3;

/**
 * Runs `attempt` again where the server has rolled it back for the sake of another transaction (serialisation failure,
 * deadlock): three times at most in all, with a small random wait between.
 *
 * @throws what the last attempt threw, or the signal's reason.
 */
export async function withRetries<T>(signal: AbortSignal, attempt: () => Promise<T>): Promise<T> {
  for (let number = 1; ; number += 1) {
    try {
      return await attempt();
    } catch (error) {
      if (number === ATTEMPTS || signal.aborted || !isSerializationFailure(error)) throw error;
    }
    await pause(Math.random() * 25 * number, undefined, { signal }).catch(() => signal.throwIfAborted());
  }
}

const ROLLED_BACK_FOR_ANOTHER: readonly unknown[] = ['40001', '40P01'];

function isSerializationFailure(error: unknown): boolean {
  return sqlStates(error).some((state) => ROLLED_BACK_FOR_ANOTHER.includes(state));
}
