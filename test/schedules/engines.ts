/** A PostgreSQL and a MariaDB for the modules and the programs of this folder. */
import { createPool } from 'mysql2/promise';
import { Client } from 'pg';
import { startMariaDb } from '../servers/mariadb.js';
import { startPostgres } from '../servers/postgres.js';
import { TABLES } from './designs.js';

export interface Engine {
  readonly url: string;
  /** Runs a statement with the parameters $1, $2 … and returns its rows. */
  query(sql: string, values?: readonly unknown[]): Promise<readonly unknown[]>;
  close(): Promise<void>;
}

export async function openPostgres(tables = TABLES.postgres): Promise<Engine> {
  const server = await startPostgres({ fsync: 'off' });
  const client = new Client({ connectionString: server.url });
  await client.connect();
  await client.query(tables);
  return {
    url: server.url,
    query: async (sql, values) => (await client.query<object>(sql, values as unknown[])).rows,
    async close() {
      await client.end();
      await server.close();
    },
  };
}

export async function openMariaDb(tables = TABLES.mysql): Promise<Engine> {
  const server = await startMariaDb({ 'innodb-flush-log-at-trx-commit': 2 });
  const pool = createPool({ uri: server.url, multipleStatements: true });
  await pool.query(tables);
  return {
    url: server.url,
    query: async (sql, values) =>
      (await pool.query(sql.replace(/\$\d/g, '?'), values as string[]))[0] as readonly unknown[],
    async close() {
      await pool.end();
      await server.close();
    },
  };
}
