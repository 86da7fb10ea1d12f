import { withinBounds } from '@paylink/core/internal';
import type { PaymentStore } from '@paylink/payments';
import { Turns, withRetries } from '@paylink/payments/store';
import {
  validateDatabase,
  validateStoreOptions,
  type AnyOptions,
  type ClientOf,
  type DrizzleDatabase,
  type PgliteDatabase,
  type PgPool,
  type PoolOptions,
  type QueryOf,
  type StoreOptions,
  type TransactionalDatabase,
} from './databases.js';
import { DriverTransactions } from './driver.js';
import { openInbox } from './inbox.js';
import { digestOf } from './literals.js';
import { Marks } from './marks.js';
import { PoolTransactions } from './pool.js';
import { isWorthRetrying, MarkConflict, Warnings, type Transactions } from './transaction.js';

/**
 * A PostgreSQL store for payments. `tx` is the transaction that contains the mark. Runs with the
 * same turn wait for each other without a connection. If another process holds the turn, the result
 * is `in_progress` at once.
 */
export interface PostgresStore<Tx> extends PaymentStore<Tx> {
  /**
   * Creates the store's tables if they are missing. Many processes can call it at once and at every
   * start.
   *
   * @throws ConfigurationError if the server is older than PostgreSQL 13, or if the database cannot
   *   hold a transaction
   */
  migrate(): Promise<void>;
  /**
   * Deletes older marks in batches and returns their number. Replaying a delivery later runs its
   * credit again, and only the order itself then protects the money.
   *
   * @throws ConfigurationError if `olderThan` is not a past date
   */
  forget(options: { readonly olderThan: Date }): Promise<number>;
}

/**
 * Credits once: the mark of a payment and all writes of its credit through `tx` commit in one
 * transaction, or not at all.
 *
 * `pool` is a Pool of `pg`, a PGlite, a database of Drizzle, or `{ transaction(work), query(tx,
 * sql) }` around another driver or ORM. After a serialisation failure or a deadlock the credit runs
 * again, three times at most.
 *
 * @throws ConfigurationError that names the option
 */
export function postgresStore<Pool extends PgPool, Tx = QueryOf<ClientOf<Pool>>>(
  pool: Pool,
  options?: PoolOptions<ClientOf<Pool>, Tx>,
): PostgresStore<Tx>;
export function postgresStore<Tx extends { query: unknown }>(
  pglite: PgliteDatabase<Tx>,
  options?: StoreOptions,
): PostgresStore<Pick<Tx, 'query'>>;
export function postgresStore<Tx extends object>(
  database: DrizzleDatabase<Tx> | TransactionalDatabase<Tx>,
  options?: StoreOptions,
): PostgresStore<Tx>;
export function postgresStore(driver: unknown, all: object = {}): PostgresStore<unknown> {
  const database = validateDatabase(driver);
  const options = validateStoreOptions(all, database.kind);
  const warnings = new Warnings(options.logger);
  const transactions =
    database.kind === 'pool'
      ? new PoolTransactions(database.pool, options, warnings)
      : new DriverTransactions(database.driver, database.hasQuery, warnings);
  const marks = new Marks(transactions, options);
  return {
    ...storeOn(transactions as Transactions<unknown>, marks, options),
    inbox: options.inbox === true ? openInbox(transactions, marks) : undefined,
  };
}

function storeOn<Tx>(
  database: Transactions<Tx>,
  marks: Marks,
  { isolation, idleTimeout }: AnyOptions,
): Omit<PostgresStore<Tx>, 'inbox'> {
  const turns = new Turns();
  return {
    isDone: (key) => marks.isDone(digestOf(key)),

    async run(givenKey, work, { signal, turn }) {
      const key = digestOf(givenKey);
      return turns.run(turn, key, signal, async () => {
        const markSql = await withinBounds(marks.sql(), { signals: [signal] });
        // The claim of a serializable transaction does not look for the mark.
        if (isolation === 'serializable' && (await marks.isDone(key))) return 'duplicate';
        const sql = markSql.run(key, digestOf(turn), idleTimeout);
        const attempt = async () => {
          try {
            return await database.run(sql, work, signal);
          } catch (error) {
            if (!(error instanceof MarkConflict)) throw error;
            // A unique index of another table can also fail at COMMIT.
            if (!(await marks.isDone(key))) throw error.cause;
            return 'duplicate';
          }
        };
        return withRetries({ signal, isWorthRetrying }, attempt);
      });
    },

    migrate: () => marks.migrate(),

    forget: ({ olderThan }) => marks.forget(olderThan),
  };
}
