/**
 * The SQL of the marks. Statements have no parameters, so that one message can contain several and
 * every driver can run them. Only digests, numbers and quoted names are inserted.
 */
import { createHash } from 'node:crypto';
import { validateOptions } from '@paylink/core/internal';
import { InboxSql } from './inbox-sql.js';
import { bytes, digits, identifier, text } from './literals.js';

/** The table of the marks. */
export interface MarkTable {
  /** Default: the schema in which the connection's `search_path` finds the table. */
  readonly schema?: string | undefined;
  /** Default `paylink_marks`. */
  readonly table?: string | undefined;
  /**
   * Stores each failed delivery in a second table, `paylink_marks_inbox`, so that you can replay
   * it. Default false.
   */
  readonly inbox?: boolean | undefined;
}

/** A transaction that holds its event's turn. */
export interface Claim {
  /** The transaction's number on the server. */
  readonly transaction: string;
  /** The session's role, because the work can change the role with SET LOCAL ROLE. */
  readonly role: string;
}

/** The statements of one run. */
export interface RunSql {
  /** Tries to lock the turn, and looks for the mark. `parseClaim` reads the row. */
  readonly claim: string;
  /** Writes the mark. Fails with 22012 in any transaction but the claim's. */
  readonly finish: (claim: Claim) => readonly string[];
  /** Returns a row if the key is done. */
  readonly findMark: string;
}

/** One lock for all tables, because two of them can share a new schema. */
const MIGRATION_LOCK = '7295431806124597';
/** Number of marks to delete at a time, so that no delete holds locks for long. */
export const FORGET_BATCH = 10_000;

export class MarkSql {
  readonly #table: string;
  readonly #schema: string | undefined;
  readonly #lockOfTable: bigint;
  /** The inbox table, if configured. */
  readonly inbox: InboxSql | undefined;

  /** @throws ConfigurationError if PostgreSQL does not accept a name */
  constructor({ schema, table = 'paylink_marks', inbox = false }: MarkTable) {
    this.#schema = schema === undefined ? undefined : identifier('schema', schema);
    const prefix = this.#schema === undefined ? '' : `${this.#schema}.`;
    this.#table = prefix + identifier('table', table);
    const ofInbox = (): string => prefix + identifier('table', `${table}_inbox`);
    this.inbox = inbox ? new InboxSql(ofInbox(), this.#table) : undefined;
    this.#lockOfTable = createHash('sha256').update(this.#table).digest().readBigUInt64BE();
  }

  /** @param idleTimeout milliseconds after which the server ends a silent transaction */
  run(key: string, turn: string, idleTimeout: number): RunSql {
    const [mark, lock] = [bytes(key), this.#lockOf(turn)];
    // A serializable transaction does not look for the mark: its reads of one index page would make
    // runs of different orders fail. The primary key alone then finds a duplicate.
    const hasMark = `current_setting('transaction_isolation') <> 'serializable'
  AND EXISTS (SELECT FROM ${this.#table} WHERE key = ${mark})`;
    return {
      claim: `SELECT CASE WHEN ${hasMark} THEN 'done'
  WHEN NOT pg_try_advisory_xact_lock(${lock}) THEN 'in_progress'
  ELSE pg_current_xact_id()::text END AS state, current_setting('role') AS role,
  set_config('idle_in_transaction_session_timeout', '${idleTimeout}', true) AS timeout`,
      finish: ({ transaction, role }) => [
        `SELECT set_config('role', ${text(role)}, true) AS role`,
        `INSERT INTO ${this.#table} (key) SELECT ${mark}
WHERE 1 / (pg_current_xact_id()::text = '${digits(transaction)}')::int = 1`,
      ],
      findMark: this.findMarks([key]),
    };
  }

  /** Returns a row with the `key` of each done key. */
  findMarks(keys: readonly string[]): string {
    return `SELECT encode(key, 'hex') AS key FROM ${this.#table}
WHERE key = ANY(ARRAY[${keys.map(bytes).join(', ')}])`;
  }

  /** Deletes one batch and returns the number of deleted marks as `forgotten`. */
  forget(olderThan: Date): string {
    const old = `SELECT key FROM ${this.#table} WHERE done_at < '${olderThan.toISOString()}'`;
    // Without its mark, a handled delivery would be listed again.
    const deliveries = this.inbox?.deleteThoseOf('old') ?? '';
    return `WITH old AS (
  DELETE FROM ${this.#table} WHERE key IN (${old} LIMIT ${FORGET_BATCH}) RETURNING key
)${deliveries}
SELECT count(*)::int AS forgotten FROM old`;
  }

  /** Returns the `schema` in which the session finds the table, or no row. */
  schemaOfTable(): string {
    return `SELECT n.nspname::text AS schema FROM pg_class c
JOIN pg_namespace n ON n.oid = c.relnamespace WHERE c.oid = ${this.#found}`;
  }

  /**
   * Returns the server's `version` (130004 is 13.4), and whether the tables exist, as `exists` and
   * `inbox`.
   */
  serverAndTables(): string {
    const inbox = this.inbox === undefined ? 'true' : `${this.inbox.found} IS NOT NULL`;
    return `SELECT current_setting('server_version_num')::int AS version,
  ${this.#found} IS NOT NULL AS exists, ${inbox} AS inbox`;
  }

  /** Locks first, because CREATE … IF NOT EXISTS can fail if two sessions run it at once. */
  locked(statements: readonly string[]): string[] {
    return [
      // Casts to text, because some drivers cannot read the type void.
      `SELECT pg_advisory_xact_lock(${MIGRATION_LOCK})::text`,
      // Reading a table makes the session see tables that others created during the wait.
      'SELECT 1 FROM pg_namespace LIMIT 0',
      ...statements,
    ];
  }

  migration(): string[] {
    return [
      ...(this.#schema === undefined ? [] : [`CREATE SCHEMA IF NOT EXISTS ${this.#schema}`]),
      `CREATE TABLE IF NOT EXISTS ${this.#table} (
  key bytea PRIMARY KEY CHECK (octet_length(key) = 32),
  done_at timestamptz NOT NULL DEFAULT now()
)`,
      ...(this.inbox === undefined ? [] : [this.inbox.migration()]),
    ];
  }

  get #found(): string {
    return `to_regclass(${text(this.#table)})`;
  }

  /** Includes the table's name, so that two stores in one database do not block each other. */
  #lockOf(turn: string): string {
    return BigInt.asIntN(64, BigInt(`0x${turn.slice(16, 32)}`) ^ this.#lockOfTable).toString();
  }
}

/**
 * Returns the SQL that `migrate()` runs, for your own migrations.
 *
 * @throws ConfigurationError if PostgreSQL does not accept a name
 */
export function migrationSql(table: MarkTable = {}): string {
  const statements = new MarkSql(validateOptions(table, ['schema', 'table', 'inbox'])).migration();
  return statements.map((statement) => `${statement};\n`).join('');
}

/**
 * Reads the row of `claim`. Returns a result without work, or the transaction that holds the turn.
 */
export function parseClaim(rows: readonly unknown[]): 'duplicate' | 'in_progress' | Claim {
  const { state, role } = Object(rows[0]) as { readonly state?: string; readonly role?: string };
  if (state === 'done') return 'duplicate';
  if (state === 'in_progress') return state;
  return { transaction: digits(state), role: String(role) };
}

/** Ends a transaction's session or its running statement. Locks show 32 bits of the number. */
export function endSql(by: 'terminate' | 'cancel', transaction: string): string {
  const id = BigInt.asUintN(32, BigInt(digits(transaction)));
  return `SELECT pg_${by}_backend(pid) FROM pg_locks
WHERE locktype = 'transactionid' AND transactionid = '${id}' AND mode = 'ExclusiveLock'`;
}
