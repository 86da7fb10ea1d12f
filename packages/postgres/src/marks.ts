/** The marks of what is done: their SQL, and their table in a database. */
import { createHash } from 'node:crypto';
import { check } from '@paylink/core/idempotency';
import type { Database } from './database.js';

/** Where the marks are kept. */
export interface MarkTable {
  /** Default: where the connection's `search_path` finds the table at the store's first use. */
  readonly schema?: string | undefined;
  /** Default `paylink_marks`. */
  readonly table?: string | undefined;
}

/** The statements of one run. */
export interface RunStatements {
  /** Gives what `readClaim` reads. */
  readonly claim: () => string;
  /** The same as a statement that a session can keep prepared; undefined for a run without a turn. */
  readonly prepared: PreparedClaim | undefined;
  /** Fails unless it runs in the transaction that wrote the mark. */
  readonly stillIn: (transaction: string) => string;
  readonly isDone: () => string;
  /** Statements to run in turn; one of them gives a `Probe`. */
  readonly probe: () => readonly string[];
}

/** Two statements that together do what `claim` does. */
export interface PreparedClaim {
  /** Says all of what is prepared, so that no session runs another statement under it. */
  readonly name: string;
  readonly prepare: string;
  readonly execute: string;
}

/** One lock for all tables, since two of them can be in one new schema. */
const MIGRATION_LOCK = '7295431806124597';
/** Marks deleted at a time, so that no delete holds its locks for long. */
const FORGET_BATCH = 10_000;
/** Milliseconds for each batch: the last one reads the whole table, which can be large, and its disk slow. */
const FORGET_TIMEOUT = 600_000;
const OLDEST_SERVER = 130_000;

/**
 * The SQL of the marks. None of it has parameters, so that several statements go in one message of the simple protocol and
 * every driver can run them: what is put in are hexadecimal digits and numbers that the store made, and quoted identifiers.
 */
export class MarkSql {
  readonly #table: string;
  readonly #schema: string | undefined;
  readonly #lockOfTable: bigint;
  readonly #preparedName: string;
  readonly #prepare: string;

  /** @throws ConfigurationError when a name cannot be one of PostgreSQL. */
  constructor({ schema, table = 'paylink_marks' }: MarkTable) {
    this.#schema = schema === undefined ? undefined : identifier('schema', schema);
    this.#table = [...(this.#schema === undefined ? [] : [this.#schema]), identifier('table', table)].join('.');
    this.#lockOfTable = createHash('sha256').update(this.#table).digest().readBigUInt64BE();
    const claim = this.#claim('$1', ['$2', '$3'], '$4');
    this.#preparedName = `paylink_${createHash('sha256').update(claim).digest('hex').slice(0, 32)}`;
    this.#prepare = `PREPARE ${this.#preparedName} (bytea, bigint, bigint, text) AS ${claim}`;
  }

  run(key: string, turn: string | undefined, idleTimeout: number): RunStatements {
    const digest = keyLiteral(key);
    const locks = [this.#lockOf(key.slice(0, 16))];
    // Other digits, so that a turn that equals a key is another lock.
    if (turn !== undefined) locks.push(this.#lockOf(turn.slice(16, 32)));
    const limit = `'${idleTimeout}'`;
    const name = this.#preparedName;
    const execute = `EXECUTE ${name}(${digest}, ${locks.join(', ')}, ${limit})`;
    return {
      claim: () => this.#claim(digest, locks, limit),
      prepared: turn === undefined ? undefined : { name, prepare: this.#prepare, execute },
      stillIn: (transaction) => this.#stillIn(transaction),
      isDone: () => this.whichAreDone([key]),
      probe: () => this.#probe(key),
    };
  }

  /** Gives a row with the `key` of each that is done, in the form of `digestOf`. */
  whichAreDone(digests: readonly string[]): string {
    return `SELECT encode(key, 'hex') AS key FROM ${this.#table} WHERE key IN (${digests.map(keyLiteral).join(', ')})`;
  }

  /**
   * Writes the mark if it is not there and no other run holds one of the locks; gives the number of the transaction, or no row
   * where it wrote nothing. The locks are only tried: by key, as the releases before did, and by turn. That only one run is done
   * is left to the primary key. The mark comes first, so that a handler that commits cannot commit the credit without it.
   */
  #claim(key: string, locks: readonly string[], idleTimeout: string): string {
    const conditions = [
      ...locks.map((lock) => `pg_try_advisory_xact_lock(${lock})`),
      // Not a SET, which would be one message more where each statement is one.
      `set_config('idle_in_transaction_session_timeout', ${idleTimeout}, true) IS NOT NULL`,
    ];
    return `INSERT INTO ${this.#table} (key) SELECT ${key} WHERE ${conditions.join(' AND ')}
ON CONFLICT (key) DO NOTHING RETURNING pg_current_xact_id()::text AS transaction`;
  }

  /**
   * How many statements of the transaction could write so far (each has a number, which a new row shows as `cmin`), and whether a
   * rule rewrote one. Leaves no trace.
   */
  #probe(digest: string): string[] {
    const ruled = `SELECT FROM pg_locks JOIN pg_rewrite ON ev_class = relation
WHERE pid = pg_backend_pid() AND mode = 'RowExclusiveLock' AND ev_type <> '1' AND is_instead`;
    return [
      'SAVEPOINT paylink_probe',
      `INSERT INTO ${this.#table} (key) VALUES (sha256(${keyLiteral(digest)})) RETURNING cmin::text::int AS commands, EXISTS (${ruled}) AS ruled`,
      'ROLLBACK TO SAVEPOINT paylink_probe',
    ];
  }

  /**
   * Fails unless it runs in that very transaction: with 25P02 where a statement has failed before it, with 22012 (division by
   * zero) where the handler has ended the transaction.
   */
  #stillIn(transaction: string): string {
    return `SELECT 1 / (pg_current_xact_id_if_assigned() IS NOT DISTINCT FROM '${digitsOf(transaction)}')::int`;
  }

  /** One batch; the oldest rows lie at the table's beginning, so that it needs no index of its own. */
  forget(olderThan: Date): string {
    return `WITH old AS (
  DELETE FROM ${this.#table} WHERE key IN (SELECT key FROM ${this.#table} WHERE done_at < '${olderThan.toISOString()}' LIMIT ${FORGET_BATCH}) RETURNING 1
)
SELECT count(*)::int AS forgotten FROM old`;
  }

  /** Gives the `schema` in which the session finds the table, or no row. */
  whereItIs(): string {
    return `SELECT n.nspname::text AS schema FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE c.oid = ${this.#found}`;
  }

  /** Gives the server's `version` (130004 is 13.4), and whether the table `exists`. */
  serverAndTable(): string {
    return `SELECT current_setting('server_version_num')::int AS version, ${this.#found} IS NOT NULL AS exists`;
  }

  /** CREATE ... IF NOT EXISTS alone can fail when two sessions run it at once. */
  lockedMigration(): string[] {
    return [
      // As a text, since some drivers cannot read the type void.
      `SELECT pg_advisory_xact_lock(${MIGRATION_LOCK})::text`,
      // A session sees what others have created when it opens a table, not when it gets the lock that they held.
      'SELECT 1 FROM pg_namespace LIMIT 0',
      ...this.migration(),
    ];
  }

  migration(): string[] {
    return [
      ...(this.#schema === undefined ? [] : [`CREATE SCHEMA IF NOT EXISTS ${this.#schema}`]),
      `CREATE TABLE IF NOT EXISTS ${this.#table} (
  key bytea PRIMARY KEY CHECK (octet_length(key) = 32),
  done_at timestamptz NOT NULL DEFAULT now()
)`,
    ];
  }

  get #found(): string {
    return `to_regclass('${this.#table.replaceAll("'", "''")}')`;
  }

  /** It depends on the table too, so that two stores of one database do not lock each other out. */
  #lockOf(hex: string): string {
    return BigInt.asIntN(64, BigInt(`0x${hex}`) ^ this.#lockOfTable).toString();
  }
}

/** The table of the marks, made, looked up, read and emptied. */
export class Marks {
  readonly #database: Pick<Database<unknown>, 'query' | 'execute'>;
  readonly #table: MarkTable;
  readonly #sql: MarkSql;
  #known: MarkSql | undefined;
  #locating: Promise<MarkSql> | undefined;

  /** @throws ConfigurationError when a name cannot be one of PostgreSQL. */
  constructor(database: Pick<Database<unknown>, 'query' | 'execute'>, table: MarkTable) {
    this.#database = database;
    this.#table = table;
    this.#sql = new MarkSql(table);
    if (table.schema !== undefined) this.#known = this.#sql;
  }

  /**
   * The SQL with the table's schema, looked up once. A handler or other code of the pool can leave another `search_path` behind on
   * a connection, and a table of the same name in that schema would not have the marks.
   */
  async sql(): Promise<MarkSql> {
    return this.#known ?? (this.#locating ??= this.#locate().finally(() => (this.#locating = undefined)));
  }

  /** The same where it is known already. */
  get knownSql(): MarkSql | undefined {
    return this.#known;
  }

  /** Gives those of the digests that are done. */
  async whichAreDone(digests: readonly string[]): Promise<ReadonlySet<unknown>> {
    const rows = await this.#database.query((await this.sql()).whichAreDone(digests));
    return new Set(rows.map((row) => (row as { readonly key: unknown }).key));
  }

  async migrate(): Promise<void> {
    // Looked at first, since the role of the service often has no right to create anything.
    const [row] = await this.#database.query(this.#sql.serverAndTable());
    const { version, exists } = row as { readonly version: number; readonly exists: boolean };
    const found = `PostgreSQL ${Math.floor(version / 10_000)}`;
    check(version >= OLDEST_SERVER, 'pool', `leads to ${found}; the store needs PostgreSQL 13 or newer. Upgrade the server`);
    if (!exists) await this.#database.execute(this.#sql.lockedMigration());
  }

  /** @throws ConfigurationError when `olderThan` is no date in the past. */
  async forget(olderThan: unknown): Promise<number> {
    const isPast = olderThan instanceof Date && olderThan.getTime() < Date.now();
    check(isPast, 'olderThan', 'must be a Date in the past');
    let total = 0;
    for (let forgotten = FORGET_BATCH; forgotten === FORGET_BATCH; total += forgotten) {
      const [row] = await this.#database.query((await this.sql()).forget(olderThan), FORGET_TIMEOUT);
      forgotten = (row as { readonly forgotten: number }).forgotten;
    }
    return total;
  }

  async #locate(): Promise<MarkSql> {
    const [row] = await this.#database.query(this.#sql.whereItIs());
    // Where the table is missing, the server says so at the next statement.
    if (row === undefined) return this.#sql;
    return (this.#known = new MarkSql({ ...this.#table, schema: (row as { readonly schema: string }).schema }));
  }
}

/**
 * The SQL that `migrate()` runs, for migrations of your own.
 *
 * @throws ConfigurationError when a name cannot be one of PostgreSQL.
 */
export function migrationSql(table: MarkTable = {}): string {
  return new MarkSql(table)
    .migration()
    .map((statement) => `${statement};\n`)
    .join('');
}

/** The number of the transaction in which the mark was written; undefined where the mark is there or another run holds a lock. */
export function readClaim(rows: readonly unknown[] | undefined): string | undefined {
  if (rows === undefined) throw new TypeError('the database gave no rows: `query` must give the rows of the statement');
  return (rows[0] as { readonly transaction: string } | undefined)?.transaction;
}

/** Why a claim wrote no mark. */
export function readRefusal(rowsOfDone: readonly unknown[]): 'duplicate' | 'in_progress' {
  return rowsOfDone.length > 0 ? 'duplicate' : 'in_progress';
}

/**
 * Ends the session that is in this transaction, if it still goes on. Locks are listed by the lower 32 bits of its number. One that commits
 * is left alone: it may wait for a synchronous standby, or soon will, and ending it would show to others what a failover can still lose.
 */
export function terminateTransaction(transaction: string): string {
  const id = BigInt.asUintN(32, BigInt(digitsOf(transaction)));
  return `SELECT pg_terminate_backend(pid) FROM pg_locks WHERE locktype = 'transactionid' AND transactionid = '${id}' AND mode = 'ExclusiveLock'
AND NOT EXISTS (SELECT FROM pg_stat_activity AS session
  WHERE session.pid = pg_locks.pid AND (wait_event = 'SyncRep' OR state = 'active' AND query LIKE '%COMMIT'))`;
}

function digitsOf(transaction: string): string {
  if (!/^\d+$/.test(transaction)) throw new TypeError('the server gave no number for its transaction');
  return transaction;
}

/** A receiver gives a SHA-256 in hexadecimal; other callers of the store may give any text. */
export function digestOf(key: string): string {
  return /^[0-9a-f]{64}$/.test(key) ? key : createHash('sha256').update(key).digest('hex');
}

/** Half as long in the index as its hexadecimal digits, and `sha256('payment.succeeded:order-42')` finds it by hand. */
function keyLiteral(digest: string): string {
  return `decode('${digest}', 'hex')`;
}

/** PostgreSQL silently cuts longer names off, and two tables would be one. */
function identifier(option: string, name: unknown): string {
  const fit = typeof name === 'string' && name !== '' && !name.includes('\0') && Buffer.byteLength(name) < 64;
  check(fit, option, 'must be a name of 1 to 63 bytes, unquoted');
  return `"${name.replaceAll('"', '""')}"`;
}
