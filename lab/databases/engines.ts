/** The databases of the races. A trigger writes down each credit, whatever the recipe returns. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startDynamoDbEngine } from '../../examples/databases/test/dynamodb-engine.js';
import { KEYS, ROLES, startPostgrest } from '../../examples/databases/test/postgrest.js';
import { startMariaDb } from '../../test/servers/mariadb.js';
import { startPostgres } from '../../test/servers/postgres.js';
import type { RecipeRow } from './recipes.js';

/** A database with the table of the recipes. */
export interface Engine {
  readonly name: string;
  /** What the recipes read. */
  readonly env: Readonly<Record<string, string>>;
  insert(references: readonly string[]): Promise<void>;
  /** Returns the references among these that are paid. */
  paid(references: readonly string[]): Promise<Set<string>>;
  /** Returns how often each of these references was credited. */
  credits(references: readonly string[]): Promise<number[]>;
  close(): Promise<void>;
}

const EXAMPLES = new URL('../../examples/databases/', import.meta.url);
const require = createRequire(new URL('package.json', EXAMPLES));
const sqlOf = (name: string): string =>
  readFileSync(new URL(`tables/${name}.sql`, EXAMPLES), 'utf8');

type Query = (sql: string) => Promise<readonly Record<string, unknown>[]>;

function engine(
  name: string,
  env: Readonly<Record<string, string>>,
  query: Query,
  close: () => Promise<void>,
): Engine {
  const listOf = (references: readonly string[]): string =>
    references.map((reference) => `'${reference}'`).join(', ');
  return {
    name,
    env,
    close,
    async insert(references) {
      const rows = references.map((reference) => `('${reference}', 1500, 'XOF')`).join(', ');
      await query(`INSERT INTO orders (reference, amount, currency) VALUES ${rows}`);
    },
    async paid(references) {
      const sql = `SELECT reference FROM orders WHERE paid_at IS NOT NULL AND reference IN (${listOf(references)})`;
      return new Set((await query(sql)).map((row) => String(row['reference'])));
    },
    async credits(references) {
      const sql = `SELECT reference, COUNT(*) AS n FROM credits WHERE reference IN (${listOf(references)}) GROUP BY reference`;
      const counts = new Map(
        (await query(sql)).map((row) => [String(row['reference']), Number(row['n'])]),
      );
      return references.map((reference) => counts.get(reference) ?? 0);
    },
  };
}

async function startPostgresEngine(): Promise<Engine> {
  const server = await startPostgres();
  const { Pool } = require('pg') as typeof import('pg');
  const pool = new Pool({ connectionString: server.url, max: 2 });
  await pool.query(sqlOf('postgres'));
  await pool.query(sqlOf('postgres-variants'));
  await pool.query(`
    INSERT INTO wallets VALUES ('ada', 0);
    CREATE TABLE credits (reference text NOT NULL);
    CREATE FUNCTION note() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
      IF NEW.paid_at IS NOT NULL THEN INSERT INTO credits VALUES (NEW.reference); END IF;
      RETURN NULL; END $$;
    CREATE TRIGGER note AFTER UPDATE ON orders FOR EACH ROW EXECUTE FUNCTION note()`);
  const query: Query = async (sql) => (await pool.query<Record<string, unknown>>(sql)).rows;
  const version = (await query('SHOW server_version'))[0]!['server_version'];
  const close = async (): Promise<void> => {
    await pool.end();
    await server.close();
  };
  return engine(`PostgreSQL ${String(version)}`, { DATABASE_URL: server.url }, query, close);
}

async function startSupabaseEngine(): Promise<Engine> {
  const postgres = await startPostgresEngine();
  const { DATABASE_URL = '' } = postgres.env;
  const { Client } = require('pg') as typeof import('pg');
  const client = new Client(DATABASE_URL);
  await client.connect();
  await client.query(ROLES);
  await client.end();
  const postgrest = await startPostgrest(DATABASE_URL);
  return {
    ...postgres,
    name: `${postgres.name}, a stand-in for PostgREST`,
    env: { SUPABASE_URL: postgrest.url, SUPABASE_SECRET_KEY: KEYS.service_role },
    async close() {
      await postgrest.close();
      await postgres.close();
    },
  };
}

async function startMariaDbEngine(): Promise<Engine> {
  const server = await startMariaDb();
  const { createPool } = require('mysql2/promise') as typeof import('mysql2/promise');
  const pool = createPool({ uri: server.url, multipleStatements: true });
  const query: Query = async (sql) =>
    (await pool.query(sql))[0] as unknown as Record<string, unknown>[];
  await query(`${sqlOf('mysql')}
    CREATE TABLE credits (reference varchar(64) NOT NULL);
    CREATE TRIGGER note AFTER UPDATE ON orders FOR EACH ROW
      INSERT INTO credits SELECT NEW.reference FROM DUAL WHERE NEW.paid_at IS NOT NULL`);
  const version = String((await query('SELECT version() AS v'))[0]!['v']).split('-')[0]!;
  const close = async (): Promise<void> => {
    await pool.end();
    await server.close();
  };
  return engine(`MariaDB ${version}`, { DATABASE_URL: server.url }, query, close);
}

async function startSqliteEngine(): Promise<Engine> {
  const folder = mkdtempSync(join(tmpdir(), 'paylink-databases-'));
  const file = join(folder, 'shop.db');
  const Database = require('libsql') as typeof import('libsql');
  const db = new Database(file, { timeout: 10_000 });
  db.exec('PRAGMA journal_mode = WAL');
  db.exec(`${sqlOf('sqlite')}
    CREATE TABLE credits (reference text NOT NULL);
    CREATE TRIGGER note AFTER UPDATE OF paid_at ON orders WHEN NEW.paid_at IS NOT NULL
      BEGIN INSERT INTO credits VALUES (NEW.reference); END`);
  const query: Query = async (sql) => {
    if (!sql.startsWith('SELECT')) {
      db.exec(sql);
      return [];
    }
    return db.prepare(sql).all() as Record<string, unknown>[];
  };
  const close = async (): Promise<void> => {
    db.close();
    rmSync(folder, { recursive: true });
  };
  return engine('SQLite 3, one file', { DATABASE_FILE: file }, query, close);
}

export const ENGINES: Readonly<Record<RecipeRow['database'], () => Promise<Engine>>> = {
  PostgreSQL: startPostgresEngine,
  Supabase: startSupabaseEngine,
  'MySQL, MariaDB': startMariaDbEngine,
  SQLite: startSqliteEngine,
  DynamoDB: startDynamoDbEngine,
};
