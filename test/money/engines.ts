/**
 * A shop on each engine: orders with a ledger, and the means to break both. Loads only what an
 * engine needs, because processes that are killed start often.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Orders } from '@paylink/payments';
import type Sqlite from 'libsql';
import type { Pool as MysqlPool, PoolConnection } from 'mysql2/promise';
import type { Pool, PoolClient } from 'pg';

export type Row = Record<string, unknown>;

interface Result {
  readonly rows: readonly Row[];
  /** Rows that a write changed. */
  readonly count: number;
}

/** One session of a database. Parameters are written as `?`. */
export interface Session {
  run(sql: string, values?: readonly (string | number | null)[]): Promise<Result>;
}

export interface Connection extends Session {
  /** Gives the connection back to its pool, as it is. */
  release(): void;
}

/** A pool of connections. */
export interface Database extends Session {
  connect(): Promise<Connection>;
  close(): Promise<void>;
}

export type EngineName = 'PostgreSQL' | 'MariaDB' | 'SQLite';

export interface Engine {
  readonly name: EngineName;
  /** The address of the database, for `openDatabase` in this or another process. */
  readonly url: string;
  close(): Promise<void>;
}

export const ENGINES: readonly EngineName[] = ['PostgreSQL', 'MariaDB', 'SQLite'];

export async function startEngine(name: EngineName): Promise<Engine> {
  if (name === 'SQLite') {
    const folder = mkdtempSync(join(tmpdir(), 'paylink-sqlite-'));
    const close = async (): Promise<void> => rmSync(folder, { recursive: true });
    return { name, url: join(folder, 'shop.db'), close };
  }
  const server = await startServer(name);
  return { name, url: server.url, close: () => server.close() };
}

/** No power cut comes, so no commit has to wait for the disk. */
async function startServer(name: EngineName) {
  if (name === 'MariaDB') {
    const { startMariaDb } = await import('../servers/mariadb.js');
    return startMariaDb({ 'innodb-flush-log-at-trx-commit': 2 });
  }
  const { startPostgres } = await import('../servers/postgres.js');
  return startPostgres({ fsync: 'off' });
}

export function openDatabase(
  { name, url }: Pick<Engine, 'name' | 'url'>,
  size = 4,
): Promise<Database> {
  if (name === 'PostgreSQL') return openPostgres(url, size);
  return name === 'MariaDB' ? openMariaDb(url, size) : openSqlite(url);
}

async function openPostgres(url: string, max: number): Promise<Database> {
  const { default: pg } = await import('pg');
  const pool = new pg.Pool({ connectionString: url, max });
  pool.on('error', () => undefined);
  const session = (through: Pool | PoolClient): Session => ({
    async run(sql, values = []) {
      let place = 0;
      const { rows, rowCount } = await through.query<Row>(
        sql.replace(/\?/g, () => `$${++place}`),
        [...values],
      );
      return { rows, count: rowCount ?? 0 };
    },
  });
  return {
    ...session(pool),
    async connect() {
      const client = await pool.connect();
      return { ...session(client), release: () => client.release() };
    },
    close: () => pool.end(),
  };
}

async function openMariaDb(url: string, connectionLimit: number): Promise<Database> {
  const { createPool } = await import('mysql2/promise');
  const pool = createPool({ uri: url, connectionLimit });
  const session = (through: MysqlPool | PoolConnection): Session => ({
    async run(sql, values = []) {
      const [result] = await through.query(sql, [...values]);
      if (Array.isArray(result)) return { rows: result as Row[], count: 0 };
      return { rows: [], count: result.affectedRows };
    },
  });
  return {
    ...session(pool),
    async connect() {
      const connection = await pool.getConnection();
      return { ...session(connection), release: () => connection.release() };
    },
    close: () => pool.end(),
  };
}

async function openSqlite(file: string): Promise<Database> {
  const { default: Database } = await import('libsql');
  const open = (): Sqlite.Database => {
    const db = new Database(file, { timeout: 10_000 });
    db.exec('PRAGMA journal_mode = WAL');
    return db;
  };
  const session = (db: Sqlite.Database): Session => ({
    async run(sql, values = []) {
      const statement = db.prepare(sql.replace(/^BEGIN$/, 'BEGIN IMMEDIATE'));
      if (statement.reader) return { rows: statement.all(...values) as Row[], count: 0 };
      return { rows: [], count: statement.run(...values).changes };
    },
  });
  const shared = open();
  const connections = new Set<Sqlite.Database>();
  // SQLite has one writer, and its driver would block this process while it waits for another.
  let free = Promise.resolve();
  return {
    ...session(shared),
    async connect() {
      const before = free;
      let release!: () => void;
      free = new Promise((resolve) => (release = resolve));
      await before;
      const db = open();
      connections.add(db);
      const close = (): void => {
        connections.delete(db);
        db.close();
        release();
      };
      return { ...session(db), release: close };
    },
    async close() {
      for (const db of [shared, ...connections]) db.close();
    },
  };
}

const TABLES: Readonly<Record<EngineName, readonly string[]>> = {
  PostgreSQL: [
    `CREATE TABLE IF NOT EXISTS orders (tenant text NOT NULL, reference text NOT NULL,
      amount bigint NOT NULL, currency text NOT NULL, closed boolean NOT NULL DEFAULT false,
      paid_at timestamptz, refunded_at timestamptz, PRIMARY KEY (tenant, reference))`,
    'CREATE TABLE IF NOT EXISTS ledger (tenant text, reference text, amount bigint)',
  ],
  MariaDB: [
    `CREATE TABLE IF NOT EXISTS orders (tenant varchar(32) COLLATE utf8mb4_bin NOT NULL,
      reference varchar(64) COLLATE utf8mb4_bin NOT NULL, amount bigint NOT NULL,
      currency varchar(3) COLLATE utf8mb4_bin NOT NULL, closed boolean NOT NULL DEFAULT 0,
      paid_at datetime, refunded_at datetime, PRIMARY KEY (tenant, reference))`,
    `CREATE TABLE IF NOT EXISTS ledger (tenant varchar(32), reference varchar(64) COLLATE
      utf8mb4_bin, amount bigint)`,
  ],
  SQLite: [
    `CREATE TABLE IF NOT EXISTS orders (tenant text NOT NULL, reference text NOT NULL,
      amount integer NOT NULL, currency text NOT NULL, closed boolean NOT NULL DEFAULT 0,
      paid_at text, refunded_at text, PRIMARY KEY (tenant, reference))`,
    'CREATE TABLE IF NOT EXISTS ledger (tenant text, reference text, amount integer)',
  ],
};

export async function createTables({ name }: Pick<Engine, 'name'>, db: Database): Promise<void> {
  for (const table of TABLES[name]) await db.run(table);
}

const PAY =
  'UPDATE orders SET paid_at = CURRENT_TIMESTAMP WHERE tenant = ? AND reference = ? ' +
  'AND amount = ? AND currency = ?';

interface Shop {
  readonly pool: Database;
  readonly reader: Database;
  /** Called between the steps of a credit, for processes that end themselves. */
  readonly reach?: (step: CreditStep) => void;
  /** Whether only an unpaid order is credited. Default true. */
  readonly isConditional?: boolean;
}

export type CreditStep = 'credit written' | 'COMMIT sent' | 'committed';

/**
 * The merchant's functions: `find` on connections of its own, and a `credit` that also writes a
 * ledger, in one transaction.
 */
export function ordersOf({ pool, reader, reach, isConditional = true }: Shop): Required<Orders> {
  const pay = isConditional ? `${PAY} AND paid_at IS NULL` : PAY;
  return {
    find: (reference, { tenant }) => readOrder(reader, reference, tenant),
    async credit({ reference, amount, currency }, { tenant }) {
      const session = await pool.connect();
      try {
        await session.run('BEGIN');
        const { count } = await session.run(pay, [tenant ?? '', reference, amount, currency]);
        if (count === 1) {
          const entry = [tenant ?? '', reference, amount];
          await session.run('INSERT INTO ledger VALUES (?, ?, ?)', entry);
        }
        reach?.('credit written');
        const committing = session.run('COMMIT');
        reach?.('COMMIT sent');
        await committing;
        reach?.('committed');
        return count;
      } catch (error) {
        await session.run('ROLLBACK').catch(() => undefined);
        throw error;
      } finally {
        session.release();
      }
    },
    unpaid: ({ tenant }) => references(reader, tenant, 'paid_at IS NULL'),
    paid: ({ tenant }) => references(reader, tenant, 'paid_at IS NOT NULL'),
  };
}

export async function readOrder(db: Session, reference: string, tenant: string | null) {
  const { rows } = await db.run('SELECT * FROM orders WHERE tenant = ? AND reference = ?', [
    tenant ?? '',
    reference,
  ]);
  const [row] = rows;
  if (row === undefined) return undefined;
  return {
    reference: row['reference'] as string,
    amount: row['amount'] as number | string,
    currency: row['currency'] as string,
    paid: row['paid_at'] !== null,
    closed: Boolean(row['closed']),
  };
}

async function references(db: Session, tenant: string | null, condition: string) {
  const { rows } = await db.run(
    `SELECT reference FROM orders WHERE tenant = ? AND ${condition} ORDER BY reference`,
    [tenant ?? ''],
  );
  return rows.map(({ reference }) => reference as string);
}

export async function createOrder(
  db: Session,
  reference: string,
  { tenant = '', amount = 1_000 }: { tenant?: string; amount?: number } = {},
): Promise<void> {
  const sql = 'INSERT INTO orders (tenant, reference, amount, currency) VALUES (?, ?, ?, ?)';
  await db.run(sql, [tenant, reference, amount, 'XOF']);
}

/** How many orders are paid, and how many entries the ledger has for each. */
export async function readBooks(db: Session) {
  const { rows } = await db.run(
    `SELECT o.reference, CASE WHEN o.paid_at IS NULL THEN 0 ELSE 1 END AS paid,
      (SELECT COUNT(*) FROM ledger l WHERE l.tenant = o.tenant AND l.reference = o.reference)
      AS credits FROM orders o`,
  );
  const lines = rows.map((row) => ({
    reference: String(row['reference']),
    paid: Number(row['paid']),
    credits: Number(row['credits']),
  }));
  return {
    orders: lines.length,
    paid: lines.filter(({ paid }) => paid === 1).length,
    /** Orders whose ledger disagrees with their row. */
    wrong: lines.filter(({ paid, credits }) => paid !== credits),
  };
}
