import { ConfigurationError } from './errors.js';
import type { IdempotencyStore } from './idempotency.js';
import { isProduction } from './secret.js';

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
  if (!Number.isSafeInteger(limit) || limit < 1) throw new ConfigurationError('limit', 'must be a positive integer');
  if (isProduction() && !warned) {
    warned = true;
    console.warn(
      '[paylink] memoryStore() forgets with the process, so orders can be credited twice: use a store on a database in production',
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
      try {
        await untilAborted(work({}), signal);
      } finally {
        running.delete(key);
      }
      if (done.size >= limit) done.delete(done.values().next().value!);
      done.add(key);
      return 'done';
    },
  };
}

/** Gives the work up on abort, so that a handler that never settles does not hold its key for ever. */
async function untilAborted(work: Promise<void>, signal: AbortSignal): Promise<void> {
  let abort!: () => void;
  const aborted = new Promise<never>((_, reject) => {
    abort = () => {
      reject(signal.reason as Error);
    };
  });
  signal.addEventListener('abort', abort, { once: true });
  try {
    await Promise.race([work, aborted]);
  } finally {
    signal.removeEventListener('abort', abort);
  }
}
