import { randomUUID } from 'node:crypto';
import { check, checkNames, readBound, withinBounds, type IdempotencyStore } from '@paylink/core/idempotency';
import { commandsOf, type RedisClient } from './client.js';
import { keepLease } from './lease.js';
import { ACQUIRE, END_TURN, FINISH, RELEASE, RENEW, RENEW_TURN, TAKE_TURN } from './scripts.js';

export interface RedisStoreOptions {
  /** In front of every key. Default `paylink:`. Applications that share a Redis each need their own. */
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
   * Larger than that of every earlier run for the same order. Stored with the order, it lets a database refuse a handler whose
   * lease ran out: `UPDATE orders SET paid_at = now(), fence = $2 WHERE reference = $1 AND fence < $2 AND paid_at IS NULL`. The
   * token alone is not enough: a retry after a crash has a larger one, and only `paid_at IS NULL` stops its second credit. The
   * column is `fence bigint NOT NULL DEFAULT 0`: NULL is never less than a token, and an `integer` is too small for one.
   */
  readonly fencingToken: number;
  /** Aborted when another process may have the lease: the handler should stop what is still under way. */
  readonly leaseLost: AbortSignal;
}

/**
 * Runs the handler of an event once at a time, by a lease on Redis, and marks the event as done when the handler has succeeded.
 * A second event of the same order that comes meanwhile is `in_progress`.
 *
 * **Not a record of money.** A crash can come between the handler's effect and the mark, and Redis can forget the mark (eviction,
 * a restart without its append-only file, a failover), so the handler must be idempotent itself.
 *
 * @param client of ioredis 5 and later, or of node-redis 4.7 and later and connected; a cluster too
 * @throws ConfigurationError that names the option, for another client above all
 */
export function redisStore(client: RedisClient, options: RedisStoreOptions = {}): IdempotencyStore<RedisScope> {
  const commands = commandsOf(client);
  checkNames(options, ['prefix', 'leaseMs', 'commandTimeout']);
  const { prefix = 'paylink:', leaseMs = 30_000, commandTimeout = 5_000 } = options;
  // An empty hash tag would put the two keys of a script on two nodes of a cluster.
  check(typeof prefix === 'string' && !prefix.includes('{}'), 'prefix', 'must be a string without {}');
  readBound('leaseMs', leaseMs, 100);
  readBound('commandTimeout', commandTimeout);
  const stateOf = (key: string): string => `${prefix}{${key}}`;

  /** A client keeps commands for a Redis that is down until it is back: the wait for an answer is bounded here. */
  const answerTo = (command: Promise<string>, milliseconds = commandTimeout, signal?: AbortSignal): Promise<string> =>
    withinBounds(command, {
      milliseconds,
      signals: [signal],
      reason: (aborted): unknown => aborted?.reason ?? new Error(`Redis gave no answer in ${milliseconds} ms`),
    });

  const isDone = async (key: string, signal?: AbortSignal): Promise<boolean> => {
    const state = await answerTo(commands.get(stateOf(key)), commandTimeout, signal);
    return state.startsWith('done:');
  };

  return {
    isDone: (key) => isDone(key),

    async run(key, work, { signal, turn }) {
      signal.throwIfAborted();
      // Before the turn: replays of what is done write nothing, and keep no other event of their order waiting.
      if (await isDone(key, signal)) return 'duplicate';
      const id = randomUUID();
      const keys = [stateOf(key), `${stateOf(key)}:fence`];
      const turnKeys = turn === undefined ? undefined : [`${stateOf(turn)}:turn`];
      const endTurn = async (): Promise<unknown> => turnKeys && answerTo(commands.run(END_TURN, turnKeys, [id])).catch(ignore);
      const release = (): Promise<unknown> => Promise.all([answerTo(commands.run(RELEASE, keys, [id])).catch(ignore), endTurn()]);
      /** Waits for a lease. One that Redis grants after the wait is given back. */
      const granted = async (asking: Promise<string>, giveBack: () => Promise<unknown>): Promise<string> => {
        try {
          return await answerTo(asking, commandTimeout, signal);
        } catch (error) {
          asking.then(giveBack, giveBack);
          throw error;
        }
      };

      const asked = performance.now();
      if (turnKeys && (await granted(commands.run(TAKE_TURN, turnKeys, [id, `${leaseMs}`]), endTurn)) === 'busy') {
        return 'in_progress';
      }
      // Behind the turn: its token must be larger than that of whatever had the turn before.
      const token = await granted(commands.run(ACQUIRE, keys, [id, `${leaseMs}`]), release);
      if (token === 'done' || token === 'busy') {
        await endTurn();
        return token === 'done' ? 'duplicate' : 'in_progress';
      }

      const lease = keepLease(leaseMs, asked, async () => {
        const patience = Math.min(commandTimeout, leaseMs / 3);
        const renewals = [answerTo(commands.run(RENEW, keys, [id, `${leaseMs}`, token]), patience)];
        if (turnKeys) renewals.push(answerTo(commands.run(RENEW_TURN, turnKeys, [id, `${leaseMs}`]), patience));
        return (await Promise.all(renewals)).every((answer) => answer === 'held');
      });
      const working = startWork(work, { fencingToken: Number(token), leaseLost: lease.lost });
      try {
        await withinBounds(working.settled, { signals: [signal, lease.lost] });
      } catch (error) {
        lease.stop();
        // The leases of work that was given up stay until that work ends or they run out: a second run at the same time would be worse.
        if (working.isSettled()) await release();
        else working.settled.then(release, release);
        throw error;
      }
      lease.stop();
      const [finished] = await Promise.all([answerTo(commands.run(FINISH, keys, [id, token])), endTurn()]);
      if (finished === 'done') return 'done';
      throw new Error('the lease ran out before the handler was done: another process may have run it too, and nothing is marked');
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

function ignore(): undefined {
  return undefined;
}
