/** Creates, finds, reads and empties the table of marks. */
import { check } from '@paylink/core/internal';
import { FORGET_BATCH, MarkSql, type MarkTable } from './sql.js';
import type { Transactions } from './transaction.js';

/** Milliseconds per batch. The last batch reads the whole table, which can be large. */
export const FORGET_TIMEOUT = 600_000;
const OLDEST_SERVER = 130_000;
/** Simultaneous reads. With two, a read on a lost connection does not stop the others. */
const READS_AT_ONCE = 2;
const LARGEST_READ = 200;
/**
 * Maximum number of waiting deliveries. Each one takes memory, and a sender can replay endlessly.
 */
const MOST_WAITING = 10_000;

interface Waiting {
  readonly key: string;
  readonly resolve: (isDone: boolean) => void;
  readonly reject: (error: unknown) => void;
}

export class Marks {
  readonly #database: Pick<Transactions<unknown>, 'query' | 'execute'>;
  readonly #table: MarkTable;
  readonly #sql: MarkSql;
  #located: MarkSql | undefined;
  readonly #waiting: Waiting[] = [];
  #reading = 0;

  /** @throws ConfigurationError if PostgreSQL does not accept a name */
  constructor(database: Pick<Transactions<unknown>, 'query' | 'execute'>, table: MarkTable) {
    this.#database = database;
    this.#table = table;
    this.#sql = new MarkSql(table);
    if (table.schema !== undefined) this.#located = this.#sql;
  }

  /**
   * Returns the SQL with the table's schema, looked up once. Other code can leave another
   * `search_path` on a connection, and a table of the same name there would lack the marks.
   */
  async sql(): Promise<MarkSql> {
    if (this.#located !== undefined) return this.#located;
    const [row] = await this.#database.query(this.#sql.schemaOfTable());
    // If the table is missing, the next statement fails with a clear error.
    if (row === undefined) return this.#sql;
    const { schema } = row as { readonly schema: string };
    const { table, inbox } = this.#table;
    return (this.#located = new MarkSql({ schema, table, inbox }));
  }

  /**
   * Reads many keys in one statement if many deliveries arrive at once, so that a flood of replays
   * does not take the connections that new orders need.
   */
  isDone(key: string): Promise<boolean> {
    return new Promise((resolve, reject) => {
      if (this.#waiting.length >= MOST_WAITING) {
        throw new Error('the database is too slow: too many deliveries are waiting');
      }
      this.#waiting.push({ key, resolve, reject });
      void this.#read();
    });
  }

  /**
   * @throws ConfigurationError if the server is too old, or the database cannot hold a transaction
   */
  async migrate(): Promise<void> {
    // The inbox belongs beside the marks, in the schema that `search_path` finds.
    const sql = this.#sql.inbox === undefined ? this.#sql : await this.sql();
    // Checks first, because the service's role often lacks the right to create tables.
    const [row] = await this.#database.query(sql.serverAndTables());
    const { version, exists, inbox } = Object(row) as Partial<Record<string, unknown>>;
    const isRow = typeof version === 'number' && typeof exists === 'boolean';
    check(isRow, 'query', 'must return the rows of its statement, as objects');
    const found = `connects to PostgreSQL ${Math.floor(version / 10_000)}`;
    const problem = `${found}, but the store needs PostgreSQL 13 or newer. Upgrade the server`;
    check(version >= OLDEST_SERVER, 'pool', problem);
    const ofInbox = sql.inbox === undefined || inbox === true ? [] : [sql.inbox.migration()];
    const missing = exists ? ofInbox : sql.migration();
    await this.#database.execute(missing.length === 0 ? [] : sql.locked(missing));
  }

  /** @throws ConfigurationError if `olderThan` is not a past date */
  async forget(olderThan: Date): Promise<number> {
    const isPast = olderThan instanceof Date && olderThan.getTime() < Date.now();
    check(isPast, 'olderThan', 'must be a Date in the past');
    const statement = (await this.sql()).forget(olderThan);
    let total = 0;
    for (let forgotten = FORGET_BATCH; forgotten === FORGET_BATCH; total += forgotten) {
      const [row] = await this.#database.query(statement, FORGET_TIMEOUT);
      forgotten = (row as { readonly forgotten: number }).forgotten;
    }
    return total;
  }

  async #read(): Promise<void> {
    if (this.#reading === READS_AT_ONCE || this.#waiting.length === 0) return;
    this.#reading += 1;
    const batch = this.#waiting.splice(0, LARGEST_READ);
    try {
      const sql = (await this.sql()).findMarks(batch.map(({ key }) => key));
      const rows = (await this.#database.query(sql)) as readonly { readonly key: string }[];
      const done = new Set(rows.map(({ key }) => key));
      for (const { key, resolve } of batch) resolve(done.has(key));
    } catch (error) {
      for (const { reject } of batch) reject(error);
    }
    this.#reading -= 1;
    void this.#read();
  }
}
