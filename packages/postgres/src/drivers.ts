/** The databases that a store accepts, as far as it uses them. By structure, so that no driver's types are needed. */

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
