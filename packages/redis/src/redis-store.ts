import { randomUUID } from 'node:crypto';
import { ConfigurationError, type IdempotencyStore } from '@paylink/core';
import { commandsOf, type RedisClient } from './client.js';
import { keepLease } from './lease.js';
import { ACQUIRE, FINISH, RELEASE, RENEW } from './scripts.js';
import { unlessAborted, within } from './waiting.js';

export interface RedisStoreOptions {
  /** In front of every key. Default `paylink:`. Applications that share a Redis each want their own. */
  readonly prefix?: string | undefined;
  /**
   * Milliseconds that a lease holds without renewal, so how long a key stays taken after a crash. Renewed every third of it
   * while the handler runs. Default 30,000; at least 100.
   */
  readonly leaseMs?: number | undefined;
  /** Milliseconds for Redis to answer one command. Default 5,000. */
  readonly commandTimeout?: number | undefined;
}

/** What a handler is given by this store. */
export interface RedisScope {
  /**
   * Larger than that of every earlier run for the same event. Kept beside the order, it lets your own database refuse a handler
   * whose lease ran out: `UPDATE … SET fence = $1 WHERE reference = $2 AND fence < $1`.
   */
  readonly fencingToken: number;
  /** Aborted when somebody else may have the lease: whatever is still under way should stop. */
  readonly leaseLost: AbortSignal;
}

/**
 * Lets one run at a time have an event, by a lease on Redis, and marks it as done when its handler has succeeded.
 *
 * **No record of money.** Between the handler's effect and the mark lies a crash, and Redis can forget the mark (eviction, a
 * restart without its append-only file, a failover), so the handler must be idempotent itself.
 *
 * @param client of ioredis 5 and later, or of node-redis 4.7 and later and connected; a cluster too
 * @throws ConfigurationError that names the option, for another client above all
 */
export function redisStore(
  client: RedisClient,
  { prefix = 'paylink:', leaseMs = 30_000, commandTimeout = 5_000 }: RedisStoreOptions = {},
): IdempotencyStore<RedisScope> {
  const commands = commandsOf(client);
  // An empty hash tag would put the two keys of a script on two nodes of a cluster.
  check(typeof prefix === 'string' && !prefix.includes('{}'), 'prefix', 'must be a text without {}');
  check(isMilliseconds(leaseMs, 100), 'leaseMs', 'must be a whole number from 100 to 2147483647');
  check(isMilliseconds(commandTimeout, 1), 'commandTimeout', 'must be a whole number from 1 to 2147483647');
  const stateOf = (key: string): string => `${prefix}{${key}}`;

  return {
    async isDone(key) {
      const state = await within(commandTimeout, commands.get(stateOf(key)));
      return state?.startsWith('done:') ?? false;
    },

    async run(key, work, { signal }) {
      signal.throwIfAborted();
      const keys = [stateOf(key), `${stateOf(key)}:fence`];
      const id = randomUUID();
      const release = (): Promise<unknown> => within(commandTimeout, commands.run(RELEASE, keys, [id])).catch(ignore);

      const asked = performance.now();
      const acquiring = commands.run(ACQUIRE, keys, [id, `${leaseMs}`]);
      let acquired: string;
      try {
        acquired = await unlessAborted(within(commandTimeout, acquiring), signal);
      } catch (error) {
        // A lease that is given after all would hold the key for nobody.
        acquiring.then(release, ignore);
        throw error;
      }
      if (acquired === 'done') return 'duplicate';
      if (acquired === 'busy') return 'in_progress';

      const token = acquired;
      const lease = keepLease(leaseMs, asked, async () => {
        const patience = Math.min(commandTimeout, leaseMs / 3);
        return (await within(patience, commands.run(RENEW, keys, [id, `${leaseMs}`, token]))) === 'held';
      });
      const working = startWork(work, { fencingToken: Number(token), leaseLost: lease.lost });
      try {
        await unlessAborted(working.settled, signal, lease.lost);
      } catch (error) {
        lease.stop();
        // The key of work that was given up stays taken until that ends or the lease does: a second run beside it would be worse.
        if (working.isSettled()) await release();
        else working.settled.then(release, release);
        throw error;
      }
      lease.stop();
      if ((await within(commandTimeout, commands.run(FINISH, keys, [id, token]))) === 'done') return 'done';
      throw new Error('the lease ran out before the handler was done, so somebody else may have run it too, and nothing is marked');
    },
  };
}

function startWork(
  work: (scope: RedisScope) => Promise<void>,
  scope: RedisScope,
): { readonly settled: Promise<void>; isSettled(): boolean } {
  let settled = false;
  const running = (async () => {
    try {
      await work(scope);
    } finally {
      settled = true;
    }
  })();
  return { settled: running, isSettled: () => settled };
}

function isMilliseconds(value: number, least: number): boolean {
  return Number.isInteger(value) && value >= least && value < 2 ** 31;
}

function check(fit: boolean, option: string, problem: string): void {
  if (!fit) throw new ConfigurationError(option, problem);
}

function ignore(): undefined {
  return undefined;
}
