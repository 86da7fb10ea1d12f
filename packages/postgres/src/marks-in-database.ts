import { ConfigurationError } from '@paylink/core';
import type { Database } from './database.js';
import type { Marks } from './marks.js';
import { explained } from './server-errors.js';

/** Marks deleted at a time, so that no delete holds its locks for long. */
const FORGET_BATCH = 10_000;
const OLDEST_SERVER = 130_000;

/** The table of the marks, made, looked up, read and emptied. */
export class MarksInDatabase {
  readonly #database: Pick<Database<unknown>, 'query' | 'execute'>;
  readonly #marks: Marks;
  #located: Promise<Marks> | undefined;
  #known: Marks | undefined;

  constructor(database: Pick<Database<unknown>, 'query' | 'execute'>, marks: Marks) {
    this.#database = database;
    this.#marks = marks;
    if (marks.isQualified) this.#known = marks;
  }

  /**
   * The SQL with the table's schema, looked up once. A handler or other code of the pool can leave another `search_path` behind on
   * a connection, and a table of the same name in that schema would not have the marks.
   */
  sql(): Promise<Marks> {
    this.#located ??= this.#locate();
    return this.#located;
  }

  /** The same where it is known already. */
  get knownSql(): Marks | undefined {
    return this.#known;
  }

  /** Gives those of the digests that are done. */
  async whichAreDone(digests: readonly string[]): Promise<ReadonlySet<unknown>> {
    const rows = await explained(this.#database.query((await this.sql()).whichAreDone(digests)));
    return new Set(rows.map((row) => (row as { readonly key: unknown }).key));
  }

  async migrate(): Promise<void> {
    // Looked at first, since the role of the service often has no right to create anything.
    const [row] = await this.#database.query(this.#marks.serverAndTable());
    const { version, exists } = row as { readonly version: number; readonly exists: boolean };
    if (version < OLDEST_SERVER) {
      const found = `PostgreSQL ${Math.floor(version / 10_000)}`;
      throw new ConfigurationError('pool', `leads to ${found}; the store needs PostgreSQL 13 or newer. Upgrade the server`);
    }
    if (!exists) await this.#database.execute(this.#marks.lockedMigration());
  }

  /** @throws ConfigurationError when `olderThan` is no date in the past. */
  async forget(olderThan: unknown): Promise<number> {
    const isPast = olderThan instanceof Date && olderThan.getTime() < Date.now();
    if (!isPast) throw new ConfigurationError('olderThan', 'must be a Date in the past');
    let total = 0;
    for (let forgotten = FORGET_BATCH; forgotten === FORGET_BATCH; total += forgotten) {
      const [row] = await explained(this.#database.query((await this.sql()).forget(olderThan, FORGET_BATCH)));
      forgotten = (row as { readonly forgotten: number }).forgotten;
    }
    return total;
  }

  async #locate(): Promise<Marks> {
    if (this.#marks.isQualified) return this.#marks;
    try {
      const [row] = await explained(this.#database.query(this.#marks.whereItIs()));
      if (row !== undefined) return (this.#known = this.#marks.in((row as { readonly schema: string }).schema));
    } catch (error) {
      this.#located = undefined;
      throw error;
    }
    // The table is missing: the server says so at the next statement.
    this.#located = undefined;
    return this.#marks;
  }
}
