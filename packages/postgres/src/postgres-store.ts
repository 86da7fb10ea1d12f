import type { IdempotencyStore } from '@paylink/core';
import { Aborts } from './aborts.js';
import { withRetries, type Database } from './database.js';
import { DoneReads, RecentlyDone } from './done-keys.js';
import { DriverTransactions } from './driver-transactions.js';
import { Warnings } from './handler-writes.js';
import { digestOf, Marks } from './marks.js';
import { checkOptions, kindOf } from './options.js';
import type { ClientOf, PgPool, PoolOptions, TransactionalDatabase, TransactionOptions } from './options.js';
import { PoolTransactions } from './pool-transactions.js';
import { Turns } from './turns.js';

/**
 * An idempotency store on PostgreSQL. `tx` is the transaction that holds the mark: what a handler writes by it is written once.
 * Runs of one `turn` wait for each other without a connection; while another process is at work the answer is `in_progress` at once.
 */
export interface PostgresStore<Tx> extends IdempotencyStore<{ readonly tx: Tx }> {
  /**
   * Makes the table of the marks where it is missing. Can run in many processes at once, and at every start.
   *
   * @throws ConfigurationError where the server is older than PostgreSQL 13.
   */
  migrate(): Promise<void>;
  /**
   * Deletes the marks that are older, in batches, and gives their number. A delivery that is replayed afterwards runs its handler
   * again, so only the order itself still guards the credit.
   *
   * @throws ConfigurationError when `olderThan` is no date in the past.
   */
  forget(options: { readonly olderThan: Date }): Promise<number>;
}

/**
 * Credits once: the mark of a delivery and all that its handler writes by `tx` commit in one transaction, or not at all.
 *
 * `pool` is a Pool of `pg`, or a database with transactions of its own: PGlite, Drizzle's database, or `{ transaction(work) }` around
 * Prisma's or Kysely's. A run that the server rolled back in favour of another (40001, 40P01) is done again, three times at most in
 * all; so the handler must have no effect but by `tx`.
 *
 * @throws ConfigurationError that names the option.
 */
export function postgresStore<Pool extends PgPool, Tx = ClientOf<Pool>>(
  pool: Pool,
  options?: PoolOptions<ClientOf<Pool>, Tx>,
): PostgresStore<Tx>;
export function postgresStore<Tx extends object>(
  database: TransactionalDatabase<Tx>,
  options?: TransactionOptions<Tx>,
): PostgresStore<Tx>;
export function postgresStore(pool: unknown, options: unknown = {}): PostgresStore<unknown> {
  const kind = kindOf(pool);
  checkOptions(options, kind);
  const { logger = console, nothingWritten = 'refuse', idleTimeout = 60_000 } = options;
  const warnings = new Warnings(logger, nothingWritten);
  const database =
    kind === 'pool'
      ? new PoolTransactions(pool as PgPool, options, warnings)
      : new DriverTransactions(pool as TransactionalDatabase<object>, options.query, warnings);
  return storeOn<unknown>(database, new Marks(database, options), idleTimeout);
}

/** Runs that look before they claim, after a claim has found its key done. */
const LOOKS_AFTER_A_REPLAY = 100;

function storeOn<Tx>(database: Database<Tx>, marks: Marks, idleTimeout: number): PostgresStore<Tx> {
  const turns = new Turns();
  const recent = new RecentlyDone(() => database.connectionsLost?.());
  const reads = new DoneReads(
    (keys) => marks.whichAreDone(keys),
    () => database.noAnswerReason?.(),
  );
  let looks = 0;

  const look = async (key: string): Promise<boolean> => {
    const { era } = recent;
    const isDone = await reads.isDone(key);
    if (isDone) recent.add(key, era);
    return isDone;
  };
  return {
    async isDone(anyKey) {
      const key = digestOf(anyKey);
      // Not yet, as long as it runs here: should another process have done it, the run finds that out. Its duplicates must not take
      // connections that other orders wait for.
      return recent.recall(key) === 'done' || (!turns.isRunning(key) && look(key));
    },
    async run(anyKey, work, options) {
      const key = digestOf(anyKey);
      const remembered = recent.recall(key);
      if (remembered === 'done') return 'duplicate';
      const turn = options.turn === undefined ? undefined : digestOf(options.turn);
      const wasDone = remembered === 'lapsed';
      return Aborts.during(options, async (aborts) => {
        if ((looks > 0 || wasDone) && !turns.isRunning(key)) {
          // The claim would find a duplicate too, but takes a connection: in a flood of replays many looks share one.
          const isDone = await aborts.race(look(key));
          // The replay of a key that was remembered says nothing of the other keys: their runs need not look.
          if (!wasDone) looks = isDone ? LOOKS_AFTER_A_REPLAY : looks - 1;
          if (isDone) return 'duplicate';
        }
        return turns.run(turn ?? key, key, aborts, async () => {
          const { era } = recent;
          const sql = marks.knownSql ?? (await aborts.race(marks.sql()));
          const statements = sql.run(key, turn, idleTimeout);
          const result = await withRetries(aborts, () => database.run(statements, (tx) => work({ tx }), aborts));
          if (result === 'duplicate') looks = LOOKS_AFTER_A_REPLAY;
          if (result !== 'in_progress') recent.add(key, era);
          return result;
        });
      });
    },
    migrate: () => marks.migrate(),
    async forget({ olderThan }) {
      try {
        return await marks.forget(olderThan);
      } finally {
        recent.clear();
      }
    },
  };
}
