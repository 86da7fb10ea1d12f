import { check } from './errors.js';
import type { IdempotencyStore } from './idempotency.js';
import { isProduction } from './environment.js';

export interface MemoryStoreOptions {
  /** How many done keys are remembered; past it the oldest are forgotten. Default 100,000, about 10 MB. */
  readonly limit?: number | undefined;
}

let warned = false;

/**
 * Remembers in this process only, for tests and development: a restart forgets everything, and so a replay would credit
 * again. In production it says so, once.
 *
 * @throws ConfigurationError when `limit` is no positive integer.
 */
export function memoryStore({ limit = 100_000 }: MemoryStoreOptions = {}): IdempotencyStore {
  check(Number.isSafeInteger(limit) && limit > 0, 'limit', 'must be a positive whole number');
  if (isProduction() && !warned) {
    warned = true;
    console.warn(
      '[paylink] memoryStore() forgets when the process ends, and then an order can be credited twice: not for production',
    );
  }
  const done = new Set<string>();
  const running = new Set<string>();

  return {
    isDone: (key) => Promise.resolve(done.has(key)),
    async run(key, work, { signal }) {
      if (done.has(key)) return 'duplicate';
      if (running.has(key)) return 'in_progress';
      signal.throwIfAborted();
      running.add(key);
      let giveUp = (): void => undefined;
      try {
        // Gives the work up on abort, so that a handler that never settles does not hold its key for ever.
        const aborted = new Promise<never>((_, reject) => {
          giveUp = () => reject(signal.reason as Error);
          signal.addEventListener('abort', giveUp);
        });
        await Promise.race([work({}), aborted]);
      } finally {
        signal.removeEventListener('abort', giveUp);
        running.delete(key);
      }
      done.add(key);
      if (done.size > limit) done.delete(done.values().next().value!);
      return 'done';
    },
  };
}
