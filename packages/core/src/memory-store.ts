import { withinBounds } from './deadline.js';
import { check } from './errors.js';
import type { IdempotencyStore } from './idempotency.js';
import { readLogger } from './logger.js';
import { checkNames } from './option-checks.js';
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
 * @throws ConfigurationError when `limit` is not a positive integer.
 */
export function memoryStore(options: MemoryStoreOptions = {}): IdempotencyStore {
  checkNames(options, ['limit']);
  const { limit = 100_000 } = options;
  check(Number.isSafeInteger(limit) && limit > 0, 'limit', 'must be a positive whole number');
  if (isProduction() && !warned) {
    warned = true;
    readLogger().warn(
      '[paylink] memoryStore() forgets when the process ends, and then an order can be credited twice: not for production',
    );
  }
  const done = new Set<string>();
  const running = new Set<string>();
  /** Of each turn, when the last of its runs ends. */
  const turns = new Map<string, Promise<void>>();

  return {
    isDone: (key) => Promise.resolve(done.has(key)),
    async run(key, work, { signal, turn = key }) {
      if (done.has(key)) return 'duplicate';
      if (running.has(key)) return 'in_progress';
      signal.throwIfAborted();
      running.add(key);
      const before = turns.get(turn);
      let end!: () => void;
      const mine = new Promise<void>((resolve) => (end = resolve));
      // A run that gives up while it waits must not let the next one pass the run before it.
      const last = before === undefined ? mine : before.then(() => mine);
      turns.set(turn, last);
      void last.then(() => {
        if (turns.get(turn) === last) turns.delete(turn);
      });
      try {
        // Both waits end on abort, so that a handler that never settles does not hold its key without end.
        if (before !== undefined) await withinBounds(before, { signals: [signal] });
        await withinBounds(work({}), { signals: [signal] });
      } finally {
        end();
        running.delete(key);
      }
      done.add(key);
      if (done.size > limit) done.delete(done.values().next().value!);
      return 'done';
    },
  };
}
