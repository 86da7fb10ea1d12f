/** What a caller gives: a database, as far as the store uses it, and options. By structure, so that no driver's types are needed. */
import { ConfigurationError, type Logger } from '@paylink/core';
import type { MarkTable } from './marks.js';

/** `pg`'s Pool, or one like it (Neon's, for example). */
export interface PgPool {
  connect(): Promise<PgClient>;
  query(query: { text: string; query_timeout?: number }): Promise<unknown>;
}

/** A client of such a pool. */
export interface PgClient {
  query(text: string): Promise<unknown>;
  release(error?: Error | boolean): void;
  on(event: 'error', listener: (error: Error) => void): unknown;
}

/** The client that a pool's `connect()` gives. */
export type ClientOf<Pool extends PgPool> = Pool['connect'] extends {
  (): Promise<infer Client>;
  // The overload with a callback: inference reads overloads from the last.
  (callback: never): void;
}
  ? Client
  : Awaited<ReturnType<Pool['connect']>>;

/**
 * A database with transactions of its own: PGlite, Drizzle's database, or an object around Prisma's or Kysely's.
 *
 * `transaction` begins one, gives it to `work`, commits when that resolves, rolls back and rejects when it rejects.
 */
export interface TransactionalDatabase<Tx> {
  transaction(work: (tx: Tx) => Promise<void>): Promise<unknown>;
}

/** Runs one statement without parameters and gives its rows: in `tx`, or outside of a transaction where that is undefined. */
export type RunSql<Tx> = (tx: Tx | undefined, sql: string) => Promise<readonly unknown[]>;

export interface StoreOptions extends MarkTable {
  /**
   * Milliseconds after which the server ends a silent transaction of the store (its `idle_in_transaction_session_timeout`), so that
   * a frozen process or a lost host does not hold an order for hours. 0 is never. Default 60,000; must be longer than the longest
   * pause of a handler between two statements.
   */
  readonly idleTimeout?: number | undefined;
  /**
   * What happens when a handler ran UPDATE, DELETE or MERGE through `tx`, and no statement changed or returned a row: an order that
   * is not there yet must not be acknowledged. `refuse`, the default, commits nothing: 503 `nothing_written`. `warn` commits and
   * logs. Seen through the clients of `pg` and PGlite, not in an ORM's own transaction.
   */
  readonly nothingWritten?: 'refuse' | 'warn' | undefined;
  /** Where the store warns about handlers. Default: the console. */
  readonly logger?: Pick<Logger, 'warn'> | undefined;
}

export interface PoolOptions<Client, Tx = Client> extends StoreOptions {
  /** Default: the server's own, which is `read committed` unless configured. */
  readonly isolation?: 'read committed' | 'repeatable read' | 'serializable' | undefined;
  /** What handlers get as `tx`, made from the client that holds the transaction: an ORM over it. Default: the client. */
  readonly tx?: ((client: Client) => Tx) | undefined;
}

export interface TransactionOptions<Tx> extends StoreOptions {
  /**
   * Not needed where the transactions have a `query`, `execute` or `$queryRawUnsafe` that takes SQL as a text, as those of PGlite,
   * Drizzle and Prisma have.
   */
  readonly query?: RunSql<Tx> | undefined;
}

/** The options as JavaScript callers may give them. */
export type AnyOptions = PoolOptions<PgClient, unknown> & TransactionOptions<object>;

/** Which of the two databases it is. @throws ConfigurationError */
export function kindOf(pool: unknown): 'pool' | 'transactions' {
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

const STORE_OPTIONS = ['schema', 'table', 'idleTimeout', 'nothingWritten', 'logger'];
const KNOWN = { pool: [...STORE_OPTIONS, 'isolation', 'tx'], transactions: [...STORE_OPTIONS, 'query'] };
const ISOLATIONS = ['read committed', 'repeatable read', 'serializable'];

/** @throws ConfigurationError that names the option. */
export function checkOptions(options: unknown, kind: 'pool' | 'transactions'): asserts options is AnyOptions {
  if (typeof options !== 'object' || options === null) throw new ConfigurationError('options', 'must be an object');
  for (const [name, value] of Object.entries(options)) {
    if (value !== undefined && !KNOWN[kind].includes(name)) {
      throw new ConfigurationError(name, `is unknown. Valid options: ${KNOWN[kind].join(', ')}`);
    }
  }
  const { idleTimeout = 0, nothingWritten = 'refuse', logger, isolation, tx, query } = options as Record<string, unknown>;
  const isBound = Number.isInteger(idleTimeout) && (idleTimeout as number) >= 0 && (idleTimeout as number) < 2 ** 31;
  if (!isBound) throw new ConfigurationError('idleTimeout', 'must be a whole number of milliseconds from 0 to 2147483647');
  if (nothingWritten !== 'refuse' && nothingWritten !== 'warn') {
    throw new ConfigurationError('nothingWritten', 'must be refuse or warn');
  }
  const canWarn = logger === undefined || typeof (logger as Record<string, unknown> | null)?.['warn'] === 'function';
  if (!canWarn) throw new ConfigurationError('logger', 'must have a function `warn`');
  if (isolation !== undefined && !ISOLATIONS.includes(isolation as string)) {
    throw new ConfigurationError('isolation', `must be one of ${ISOLATIONS.join(', ')}`);
  }
  if (tx !== undefined && typeof tx !== 'function') {
    throw new ConfigurationError('tx', 'must be a function that makes what handlers get from a client');
  }
  if (query !== undefined && typeof query !== 'function') throw new ConfigurationError('query', 'must be a function (tx, sql)');
}
