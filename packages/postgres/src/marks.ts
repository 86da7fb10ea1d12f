import { createHash } from 'node:crypto';
import { ConfigurationError } from '@paylink/core';

/** Where the marks are kept. */
export interface MarkTable {
  /** Default: where the connection's `search_path` finds the table at the store's first use. */
  readonly schema?: string | undefined;
  /** Default `paylink_marks`. */
  readonly table?: string | undefined;
}

/** One lock for all tables, since two of them can be in one new schema. */
const MIGRATION_LOCK = '7295431806124597';

/**
 * The SQL of the marks. None of it has parameters, so that several statements go in one message of the simple protocol and
 * every driver can run them: what is put in are hexadecimal digits and numbers that the store made, and quoted identifiers.
 */
export class Marks {
  readonly #table: string;
  readonly #schema: string | undefined;
  readonly #name: string;
  readonly #lockOfTable: bigint;

  /** @throws ConfigurationError when a name cannot be one of PostgreSQL. */
  constructor({ schema, table = 'paylink_marks' }: MarkTable) {
    this.#name = table;
    this.#schema = schema === undefined ? undefined : identifier('schema', schema);
    this.#table = [...(this.#schema === undefined ? [] : [this.#schema]), identifier('table', table)].join('.');
    this.#lockOfTable = createHash('sha256').update(this.#table).digest().readBigUInt64BE();
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
  claim(digest: string, turn: string | undefined, idleTimeout: number): string {
    const conditions = [
      `pg_try_advisory_xact_lock(${this.#lockOf(digest.slice(0, 16))})`,
      // Other digits, so that a turn that equals a key is another lock.
      ...(turn === undefined ? [] : [`pg_try_advisory_xact_lock(${this.#lockOf(turn.slice(16, 32))})`]),
      // Not a SET, which would be one message more where each statement is one.
      `set_config('idle_in_transaction_session_timeout', '${idleTimeout}', true) IS NOT NULL`,
    ];
    return `INSERT INTO ${this.#table} (key) SELECT ${keyLiteral(digest)} WHERE ${conditions.join(' AND ')}
ON CONFLICT (key) DO NOTHING RETURNING pg_current_xact_id()::text AS transaction`;
  }

  /**
   * How many statements of the transaction could write so far (each has a number, which a new row shows as `cmin`), and whether a
   * rule rewrote one. Leaves no trace.
   */
  probe(digest: string): string[] {
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
  stillIn(transaction: string): string {
    return `SELECT 1 / (pg_current_xact_id_if_assigned() IS NOT DISTINCT FROM '${digitsOf(transaction)}')::int`;
  }

  /** One batch; the oldest rows lie at the table's beginning, so that it needs no index of its own. */
  forget(olderThan: Date, batch: number): string {
    return `WITH old AS (
  DELETE FROM ${this.#table} WHERE key IN (SELECT key FROM ${this.#table} WHERE done_at < '${olderThan.toISOString()}' LIMIT ${batch}) RETURNING 1
)
SELECT count(*)::int AS forgotten FROM old`;
  }

  /** Whether the table's schema is known, so that the `search_path` of a session does not matter. */
  get isQualified(): boolean {
    return this.#schema !== undefined;
  }

  /** Gives the `schema` in which the session finds the table, or no row. */
  whereItIs(): string {
    return `SELECT n.nspname::text AS schema FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE c.oid = to_regclass('${this.#table.replaceAll("'", "''")}')`;
  }

  /** The same table, by its schema. */
  in(schema: string): Marks {
    return new Marks({ schema, table: this.#name });
  }

  /** Gives the server's `version` (130004 is 13.4), and whether the table `exists`. */
  serverAndTable(): string {
    return `SELECT current_setting('server_version_num')::int AS version, to_regclass('${this.#table.replaceAll("'", "''")}') IS NOT NULL AS exists`;
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

  /** Of the table too, so that two stores of one database do not lock each other out. */
  #lockOf(hex: string): string {
    return BigInt.asIntN(64, BigInt(`0x${hex}`) ^ this.#lockOfTable).toString();
  }
}

/**
 * The SQL that `migrate()` runs, for migrations of your own.
 *
 * @throws ConfigurationError when a name cannot be one of PostgreSQL.
 */
export function migrationSql(table: MarkTable = {}): string {
  return new Marks(table)
    .migration()
    .map((statement) => `${statement};\n`)
    .join('');
}

/** Ends the session that is in this transaction, if it still goes on. Locks are listed by the lower 32 bits of its number. */
export function terminateTransaction(transaction: string): string {
  const id = BigInt.asUintN(32, BigInt(digitsOf(transaction)));
  return `SELECT pg_terminate_backend(pid) FROM pg_locks WHERE locktype = 'transactionid' AND transactionid = '${id}' AND mode = 'ExclusiveLock'`;
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
  if (!fit) throw new ConfigurationError(option, 'must be a name of 1 to 63 bytes, unquoted');
  return `"${name.replaceAll('"', '""')}"`;
}
