import { randomUUID } from 'node:crypto';
import { check, validateBound, validateOptions, withinBounds } from '@paylink/core/internal';
import type { PaymentStore } from '@paylink/payments';
import { checkClient, runScript, textOf, type RedisClient } from './client.js';
import { keepLease } from './lease.js';
import { ACQUIRE, RELEASE, RENEW } from './scripts.js';

export interface RedisStoreOptions {
  /**
   * Prefix of every key. Default `paylink:`. Applications that share a Redis need different
   * prefixes.
   */
  readonly prefix?: string | undefined;
  /**
   * Milliseconds that a lease lasts without renewal. After a crash, the order stays locked that
   * long. The store renews the lease after each third. Default 30,000, at least 100.
   */
  readonly leaseMs?: number | undefined;
  /** Milliseconds for Redis to answer a command. Default 5,000. */
  readonly commandTimeout?: number | undefined;
}

/** The `tx` of this store, which is not a transaction. */
export interface RedisScope {
  /**
   * Larger than the token of every earlier run of the order. `UPDATE orders SET paid_at = now(),
   * fence = $2 WHERE reference = $1 AND fence < $2 AND paid_at IS NULL` refuses a credit whose
   * lease expired. Only `paid_at IS NULL` stops a second credit after a crash.
   */
  readonly fencingToken: number;
  /** Aborts when another process may hold the lease. Stop all work that is still running. */
  readonly leaseLost: AbortSignal;
}

/**
 * Runs at most one credit of an order at a time, under a lease on Redis, and marks the payment
 * after its credit.
 *
 * **Not a record of money.** A crash can come between the credit and the mark. Redis can also
 * forget the mark, by eviction, by a restart without its append-only file, or by a failover. So the
 * credit itself must be idempotent.
 *
 * @param client ioredis 5 and later, or a connected client of node-redis 4.7 and later. A cluster
 *   fits too.
 * @throws ConfigurationError that names the option
 */
export function redisStore(
  client: RedisClient,
  options: RedisStoreOptions = {},
): PaymentStore<RedisScope> {
  checkClient(client);
  const own = validateOptions(options, ['prefix', 'leaseMs', 'commandTimeout']);
  const { prefix = 'paylink:', leaseMs = 30_000, commandTimeout = 5_000 } = own;
  const isPrefix = typeof prefix === 'string' && !prefix.includes('{}');
  // An empty hash tag would put the two keys of a script on two nodes of a cluster.
  check(isPrefix, 'prefix', 'must be a string without {}');
  validateBound('leaseMs', leaseMs, 100);
  validateBound('commandTimeout', commandTimeout);
  const nameOf = (digest: string): string => `${prefix}{${digest}}`;

  /** Limits the wait, because a client queues commands while Redis is down. */
  const answerTo = <T>(command: Promise<T>, milliseconds = commandTimeout, signal?: AbortSignal) =>
    withinBounds(command, {
      milliseconds,
      signals: [signal],
      reason: (aborted): unknown =>
        aborted?.reason ?? new Error(`Redis did not answer in ${milliseconds} ms`),
    });
  const isDone = async (key: string): Promise<boolean> =>
    textOf(await answerTo(client.get(nameOf(key)))) === 'done';

  return {
    isDone,

    async run(key, work, { signal, turn }) {
      signal.throwIfAborted();
      const id = randomUUID();
      const keys = [`${nameOf(turn)}:turn`, `${nameOf(turn)}:fence`];
      const lock = (script: string, ...values: string[]): Promise<string> =>
        runScript(client, script, keys, [id, ...values]);
      const release = (): Promise<unknown> => answerTo(lock(RELEASE)).catch(() => undefined);

      const asked = performance.now();
      const asking = lock(ACQUIRE, `${leaseMs}`);
      const token = await answerTo(asking, commandTimeout, signal).catch((error: unknown) => {
        // Returns a lease that Redis grants after the wait.
        asking.then(release, release);
        throw error;
      });
      if (token === 'busy') return (await isDone(key)) ? 'duplicate' : 'in_progress';

      const renew = async (milliseconds?: number): Promise<boolean> =>
        (await answerTo(lock(RENEW, `${leaseMs}`, token), milliseconds)) === 'held';
      const patience = Math.min(commandTimeout, leaseMs / 3);
      const lease = keepLease(leaseMs, asked, () => renew(patience));
      let isWorking = false;
      let working = Promise.resolve();
      try {
        if (await isDone(key)) return 'duplicate';
        signal.throwIfAborted();
        const running = work({ fencingToken: Number(token), leaseLost: lease.lost });
        isWorking = true;
        working = running.finally(() => (isWorking = false));
        await withinBounds(working, { signals: [signal, lease.lost] });
        if (!(await renew())) {
          throw new Error('the lease expired before the work was done, so the store left no mark');
        }
        await answerTo(client.set(nameOf(key), 'done'));
        return 'done';
      } finally {
        lease.stop();
        // Keeps the lease until the work ends or the lease expires, because a second run beside the
        // first would be worse.
        const released = working.then(release, release);
        if (!isWorking) await released;
      }
    },
  };
}
