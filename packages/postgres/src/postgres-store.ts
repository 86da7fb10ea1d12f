import { ConfigurationError, type IdempotencyStore } from '@paylink/core';
import { untilAborted } from './aborting.js';
import type { Database } from './database.js';
import type { ClientOf, PgClient, PgPool, TransactionalDatabase } from './databases.js';
import { DoneReads } from './done-reads.js';
import { KeyQueue } from './key-queue.js';
import { LocatedTable } from './located-table.js';
import { digestOf, Marks } from './marks.js';
import { checkOptions, type AnyOptions, type PoolOptions, type TransactionOptions } from './options.js';
import { PoolDatabase } from './pool-database.js';
import { withRetries } from './retry.js';
import { explained } from './store-error.js';
import { ForeignDatabase } from './foreign-database.js';

/** An idempotency store on PostgreSQL. `tx` is the transaction that holds the mark: what a handler writes by it is written once. */
export interface PostgresStore<Tx> extends IdempotencyStore<{ readonly tx: Tx }> {
  /** Makes the table of the marks where it is missing. Can run in many processes at once, and at every start. */
  migrate(): Promise<void>;
  /**
   * Deletes the marks that are older, in batches, and gives their number. A delivery that is replayed afterwards runs its handler
   * again, so only the order itself still guards the credit.
   *
   * @throws ConfigurationError when `olderThan` is no date in the past.
   */
  forget(options: { readonly olderThan: Date }): Promise<number>;
}

/** Marks deleted at a time, so that no delete holds its locks for long. */
const FORGET_BATCH = 10_000;

/**
 * Credits once: the mark of a delivery and all that its handler writes by `tx` commit in one transaction, or not at all.
 *
 * `pool` is a Pool of `pg`, or whatever has transactions of its own: PGlite, Drizzle's database, or `{ transaction(work) }` around
 * Prisma's or Kysely's. A run that the server rolled back for another's sake (40001, 40P01) is done again, three times at most in
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
  const marks = new Marks(options);
  const database = kind === 'pool' ? overPool(pool as PgPool, options) : overTransactions(pool, options);
  return storeOn(database, marks, options.idleTimeout ?? 60_000);
}

function overPool(pool: PgPool, options: AnyOptions): Database<unknown> {
  return new PoolDatabase<PgClient, unknown>(pool, options);
}

function overTransactions(database: unknown, { query }: AnyOptions): Database<unknown> {
  return new ForeignDatabase(database as TransactionalDatabase<object>, query);
}

function storeOn<Tx>(database: Database<Tx>, marks: Marks, idleTimeout: number): PostgresStore<Tx> {
  const queue = new KeyQueue();
  const table = new LocatedTable(database, marks);
  const reads = new DoneReads(async (digests) => {
    const rows = await explained(database.query((await table.marks()).whichAreDone(digests)));
    return new Set(rows.map((row) => (row as { readonly key: unknown }).key));
  });
  const stillIn = (transaction: string): string => marks.stillIn(transaction);
  return {
    async isDone(key) {
      // Not yet, as long as it runs; and its duplicates must not take connections that other orders wait for.
      return !queue.isRunning(key) && reads.isDone(digestOf(key));
    },
    async run(key, work, { signal }) {
      const digest = digestOf(key);
      return queue.run(key, signal, async () => {
        const located = await untilAborted(signal, table.marks());
        const statements = { claim: located.claim(digest, idleTimeout), stillIn, isDone: located.whichAreDone([digest]) };
        return withRetries(signal, () => database.run(statements, (tx) => work({ tx }), signal));
      });
    },
    async migrate() {
      // Looked at first, since whoever runs the service is often not allowed to create anything.
      if ((await database.query(marks.exists())).length > 0) return;
      await database.execute(marks.lockedMigration());
    },
    async forget({ olderThan }) {
      const isPast = olderThan instanceof Date && olderThan.getTime() < Date.now();
      if (!isPast) throw new ConfigurationError('olderThan', 'must be a Date in the past');
      let total = 0;
      for (let forgotten = FORGET_BATCH; forgotten === FORGET_BATCH; total += forgotten) {
        const [row] = await explained(database.query((await table.marks()).forget(olderThan, FORGET_BATCH)));
        forgotten = (row as { readonly forgotten: number }).forgotten;
      }
      return total;
    },
  };
}

function kindOf(pool: unknown): 'pool' | 'transactions' {
  const members = (typeof pool === 'object' || typeof pool === 'function' ? pool : undefined) as
    Record<string, unknown> | null | undefined;
  if (typeof members?.['transaction'] === 'function') return 'transactions';
  const isPool = typeof members?.['connect'] === 'function' && typeof members['query'] === 'function';
  if (!isPool) throw new ConfigurationError('pool', 'must be a Pool of pg, a PGlite, or an object with a function `transaction`');
  // One client for all would mix the transactions of all deliveries.
  const isClient = typeof members['release'] === 'function' || 'processID' in members;
  if (isClient)
    throw new ConfigurationError(
      'pool',
      'is a single Client of pg; give `new Pool(...)`, since each delivery needs a connection of its own',
    );
  return 'pool';
}
