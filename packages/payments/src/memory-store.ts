import {
  isProduction,
  validateBound,
  createLogger,
  validateOptions,
  withinBounds,
} from '@paylink/core/internal';
import { Turns } from './kit/turns.js';
import type { PaymentStore } from './payment-store.js';

/**
 * Makes a store for tests and development. A restart forgets everything, and a replay then credits
 * again. Warns in production.
 *
 * @param options `limit`: maximum number of done keys to remember, default 100,000 (10 MB). The
 *   store forgets the oldest keys first.
 * @throws ConfigurationError
 */
export function memoryStore(
  options: { readonly limit?: number | undefined } = {},
): PaymentStore<undefined> {
  const { limit = 100_000 } = validateOptions(options, ['limit']);
  validateBound('limit', limit);
  if (isProduction()) {
    createLogger().warn(
      '[paylink] memoryStore() is not for production: ' +
        'it forgets credited orders at a restart, and a replay then credits them again',
    );
  }
  const done = new Set<string>();
  const turns = new Turns();
  return {
    isDone: (key) => Promise.resolve(done.has(key)),
    async run(key, work, { signal, turn }) {
      if (done.has(key)) return 'duplicate';
      return turns.run(turn, key, signal, async () => {
        if (done.has(key)) return 'duplicate';
        // Ends on abort, so that work that never settles does not hold its turn forever.
        await withinBounds(work(undefined), { signals: [signal] });
        done.add(key);
        if (done.size > limit) done.delete(done.values().next().value!);
        return 'done';
      });
    },
  };
}
