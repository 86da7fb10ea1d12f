/** What a caller gives: a database, as far as the store uses it, and options. By structure, so that no driver's types are needed. */
import type { Logger } from '@paylink/core';
import { check, checkNames, readBound } from '@paylink/core/idempotency';
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
  /**
   * Whether each connection prepares the statement that writes the mark, so that the server plans it once. Default `true`. Behind a
   * pooler that gives each transaction another session the store finds out that it cannot. `false` is for a proxy that ties a connection
   * to its session once it has prepared something, as RDS Proxy does.
   */
  readonly prepare?: boolean | undefined;
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
  const members = Object(pool) as Partial<Record<'transaction' | 'connect' | 'query' | 'release', unknown>>;
  if (typeof members.transaction === 'function') return 'transactions';
  const isPool = typeof members.connect === 'function' && typeof members.query === 'function';
  check(isPool, 'pool', 'must be a Pool of pg, a PGlite, or an object with a function `transaction`');
  // One client for all would mix the transactions of all deliveries.
  const isClient = typeof members.release === 'function' || 'processID' in members;
  check(!isClient, 'pool', 'is a single Client of pg; give `new Pool(...)`, since each delivery needs a connection of its own');
  return 'pool';
}

const STORE_OPTIONS = ['schema', 'table', 'idleTimeout', 'nothingWritten', 'logger'];
const KNOWN = { pool: [...STORE_OPTIONS, 'isolation', 'prepare', 'tx'], transactions: [...STORE_OPTIONS, 'query'] };
const ISOLATIONS: readonly unknown[] = [undefined, 'read committed', 'repeatable read', 'serializable'];

/** @throws ConfigurationError that names the option. */
export function checkOptions(options: unknown, kind: 'pool' | 'transactions'): asserts options is AnyOptions {
  checkNames(options, KNOWN[kind]);
  const { idleTimeout = 0, nothingWritten = 'refuse', logger = console } = options as AnyOptions;
  const { isolation, prepare = true, tx, query } = options as AnyOptions;
  readBound('idleTimeout', idleTimeout, 0);
  check(nothingWritten === 'refuse' || nothingWritten === 'warn', 'nothingWritten', 'must be refuse or warn');
  check(typeof logger?.warn === 'function', 'logger', 'must have a function `warn`');
  check(ISOLATIONS.includes(isolation), 'isolation', `must be one of ${ISOLATIONS.slice(1).join(', ')}`);
  check(typeof prepare === 'boolean', 'prepare', 'must be true or false');
  check(isFunction(tx), 'tx', 'must be a function that makes what handlers get from a client');
  check(isFunction(query), 'query', 'must be a function (tx, sql)');
}

function isFunction(option: unknown): boolean {
  return option === undefined || typeof option === 'function';
}
