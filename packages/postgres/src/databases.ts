/** Recognises the supported databases by their shape, without importing a driver's types. */
import { type Logger } from '@paylink/core';
import { check, validateBound, createLogger, validateOptions } from '@paylink/core/internal';
import type { MarkTable } from './sql.js';

/** `pg`'s Pool, or a compatible pool such as Neon's. */
export interface PgPool {
  connect(): Promise<PgClient>;
  query(query: { text: string; query_timeout?: number }): Promise<unknown>;
}

export interface PgClient {
  query(text: string): Promise<unknown>;
  release(error?: Error | boolean): void;
  on(event: 'error', listener: (error: Error) => void): unknown;
}

/** The client that a pool's `connect()` returns. */
export type ClientOf<Pool extends PgPool> = Pool['connect'] extends {
  (): Promise<infer Client>;
  // Matches the overload with a callback, because inference reads overloads from the last.
  (callback: never): void;
}
  ? Client
  : Awaited<ReturnType<Pool['connect']>>;

/** The `tx` of a store on a driver: only the client's `query`. */
export type QueryOf<Client> = Client extends { query: unknown } ? Pick<Client, 'query'> : never;

type Transaction<Tx> = (work: (tx: Tx) => Promise<void>) => Promise<unknown>;

/** PGlite. */
export interface PgliteDatabase<Tx> {
  exec(sql: string): Promise<unknown>;
  readonly transaction: Transaction<Tx>;
}

/** Drizzle over a driver with transactions. */
export interface DrizzleDatabase<Tx> {
  execute(sql: string): PromiseLike<unknown>;
  readonly transaction: Transaction<Tx>;
}

/** An adapter for another driver or ORM. */
export interface TransactionalDatabase<Tx> {
  /** Begins a transaction, passes it to `work`, and commits or rolls back as `work` ends. */
  readonly transaction: Transaction<Tx>;
  /** Runs one statement and returns its rows: in `tx`, or outside if `tx` is undefined. */
  readonly query: (tx: Tx | undefined, sql: string) => PromiseLike<readonly unknown[]>;
}

export interface StoreOptions extends MarkTable {
  /**
   * Milliseconds after which the server ends a silent transaction of the store, so that a frozen
   * process does not keep an order locked. 0 disables the limit. Default 60,000. Must be longer
   * than the longest pause of your code between two statements.
   */
  readonly idleTimeout?: number | undefined;
  /** Default: `console`. */
  readonly logger?: Logger | undefined;
}

export interface PoolOptions<Client, Tx = QueryOf<Client>> extends StoreOptions {
  /** Default: the server's own isolation, which is `read committed` unless configured. */
  readonly isolation?: 'read committed' | 'repeatable read' | 'serializable' | undefined;
  /** Makes `tx`, for example an ORM. `client` has only the client's `query`. */
  readonly tx?: ((client: Client) => Tx) | undefined;
}

export type AnyOptions = PoolOptions<PgClient, unknown> & {
  readonly logger: Logger;
  readonly idleTimeout: number;
};

/** A pool, or a driver that begins and ends transactions itself. */
export type Database =
  | { readonly kind: 'pool'; readonly pool: PgPool }
  | {
      readonly kind: 'driver';
      readonly driver: TransactionalDatabase<object>;
      /** True if the store reduces `tx` to its `query`. */
      readonly hasQuery: boolean;
    };

type Shape = Readonly<Record<string, unknown>>;

function has(shape: Shape, ...names: readonly string[]): boolean {
  return names.every((name) => typeof shape[name] === 'function');
}

const WRAP = 'needs an adapter. Use postgresStore({ transaction, query })';
const TABLE = 'The README of @paylink/postgres shows the code';
const NO_TRANSACTION = 'cannot hold a transaction';

/** Shapes of drivers that would pass the check and fail later. */
const REFUSED: readonly (readonly [fits: (shape: Shape) => boolean, problem: string])[] = [
  [(db) => has(db, 'begin', 'unsafe'), `is the sql of postgres.js, which ${WRAP}. ${TABLE}`],
  [(db) => has(db, 'raw', 'transaction'), `is a Knex, which ${WRAP}. ${TABLE}`],
  [isNeonHttp, `is neon(), which ${NO_TRANSACTION}. Use a Pool of @neondatabase/serverless`],
  [
    (db) => has(db, 'execute') && isNeonHttp(Object(db['$client']) as Shape),
    `is drizzle-orm/neon-http, which ${NO_TRANSACTION}. Use drizzle-orm/neon-serverless`,
  ],
  [
    (db) => isSqlite(db) || isSqlite(Object(db['$client']) as Shape),
    'is a SQLite database. This store needs PostgreSQL: use a Pool of pg',
  ],
  [(db) => has(db, 'authenticate', 'define'), `is a Sequelize, which ${WRAP}. ${TABLE}`],
  [(db) => has(db, 'createQueryRunner'), `is a DataSource of TypeORM, which ${WRAP}. ${TABLE}`],
  [(db) => has(db, 'tx', 'task', 'any'), `is a database of pg-promise, which ${WRAP}. ${TABLE}`],
  [(db) => has(db, 'selectFrom'), `is a Kysely, which ${WRAP}. ${TABLE}`],
  [(db) => has(db, '$transaction'), `is a PrismaClient, which ${WRAP}. ${TABLE}`],
  [
    (db) => has(db, 'from', 'rpc'),
    `is a client of an HTTP API, which ${NO_TRANSACTION}. Use a Pool of pg with the database's URL`,
  ],
  [
    // With a single client, transactions of different deliveries would mix.
    (db) => has(db, 'connect', 'query') && (has(db, 'release') || 'processID' in db),
    'is a single Client of pg. Use `new Pool(…)`, since each delivery needs its own connection',
  ],
];

function isNeonHttp(db: Shape): boolean {
  return typeof db === 'function' && has(db, 'transaction', 'query');
}

function isSqlite(db: Shape): boolean {
  return has(db, 'prepare', 'transaction');
}

/** @throws ConfigurationError if the store does not support the database */
export function validateDatabase(database: unknown): Database {
  const shape = Object(database) as Shape;
  for (const [fits, problem] of REFUSED) check(!fits(shape), 'pool', problem);
  if (has(shape, 'connect', 'query')) return { kind: 'pool', pool: database as PgPool };
  if (has(shape, 'transaction', 'exec', 'query')) {
    return { kind: 'driver', hasQuery: true, driver: bySelf(database as SelfRunning, 'query') };
  }
  if (has(shape, 'transaction', 'execute')) {
    return { kind: 'driver', hasQuery: false, driver: bySelf(database as SelfRunning, 'execute') };
  }
  const isDriver = has(shape, 'transaction', 'query');
  const problem =
    'must be a Pool of pg, a PGlite, a database of Drizzle, or ' +
    '{ transaction(work), query(tx, sql) } around another driver or ORM';
  check(isDriver, 'pool', problem);
  return { kind: 'driver', hasQuery: false, driver: database as TransactionalDatabase<object> };
}

type Runner = Readonly<Record<'query' | 'execute', (sql: string) => PromiseLike<unknown>>>;
type Answer = readonly unknown[] | { readonly rows: readonly unknown[] };
type SelfRunning = Runner & { readonly transaction: Transaction<object> };

/** Adapts a database whose transactions run statements by the same method. */
function bySelf(database: SelfRunning, name: 'query' | 'execute'): TransactionalDatabase<object> {
  return {
    transaction: (work) => database.transaction(work),
    async query(tx, sql) {
      const answer = (await ((tx as Runner | undefined) ?? database)[name](sql)) as Answer;
      return 'rows' in answer ? answer.rows : answer;
    },
  };
}

const STORE_OPTIONS = ['schema', 'table', 'inbox', 'idleTimeout', 'logger'];
const KNOWN = { pool: [...STORE_OPTIONS, 'isolation', 'tx'], driver: STORE_OPTIONS };
const ISOLATIONS = ['read committed', 'repeatable read', 'serializable'];

/** @throws ConfigurationError that names the option */
export function validateStoreOptions(options: object, kind: Database['kind']): AnyOptions {
  const own = validateOptions(options as PoolOptions<PgClient, unknown>, KNOWN[kind]);
  const { idleTimeout = 60_000, inbox = false, isolation, tx } = own;
  check(typeof inbox === 'boolean', 'inbox', 'must be true or false');
  validateBound('idleTimeout', idleTimeout, 0);
  const isIsolation = isolation === undefined || ISOLATIONS.includes(isolation);
  check(isIsolation, 'isolation', `must be one of ${ISOLATIONS.join(', ')}`);
  const isMaker = tx === undefined || typeof tx === 'function';
  check(isMaker, 'tx', 'must be a function that makes `tx` from a client');
  return Object.assign(own, { logger: createLogger(own.logger), idleTimeout });
}
