/** PostgreSQL and MariaDB under their drivers, as the designs of `sql.ts` use them. */
import { createPool, type Pool, type PoolConnection, type ResultSetHeader } from 'mysql2/promise';
import * as pg from 'pg';

/** A pool, or a connection in a transaction. The parameters of a statement are $1, $2 … */
export interface On {
  read<Row>(sql: string, values?: readonly unknown[]): Promise<Row[]>;
  /** Returns the number of rows that the statement changes. */
  write(sql: string, values?: readonly unknown[]): Promise<number>;
}

export interface Engine extends On {
  transaction(work: (on: On) => Promise<number>, begin?: string): Promise<number>;
  close(): Promise<void>;
}

const onPostgres = (on: pg.Pool | pg.PoolClient): On => ({
  read: async (sql, values) => (await on.query(sql, values as unknown[])).rows as never[],
  write: async (sql, values) => (await on.query(sql, values as unknown[])).rowCount ?? 0,
});

function openPostgres(connectionString: string, max: number): Engine {
  const pool = new pg.Pool({ connectionString, max });
  pool.on('error', () => undefined);
  pool.on('connect', (client) => client.on('error', () => undefined));
  return {
    ...onPostgres(pool),
    async transaction(work, begin = 'BEGIN') {
      const client = await pool.connect();
      try {
        await client.query(begin);
        const changed = await work(onPostgres(client));
        await client.query('COMMIT');
        client.release();
        return changed;
      } catch (error) {
        client.release(true);
        throw error;
      }
    },
    close: () => pool.end(),
  };
}

/** @param isPrepared chooses between both protocols of the server */
function onMariaDb(on: Pool | PoolConnection, isPrepared: boolean): On {
  const run = async (statement: string, parameters: readonly unknown[] = []) => {
    const sql = statement.replace(/\$\d/g, '?');
    const values = parameters as string[];
    return (await (isPrepared ? on.execute(sql, values) : on.query(sql, values)))[0];
  };
  return {
    read: async (sql, values) => (await run(sql, values)) as never[],
    write: async (sql, values) => ((await run(sql, values)) as ResultSetHeader).affectedRows,
  };
}

function openMariaDb(uri: string, max: number): Engine {
  const pool = createPool({ uri, connectionLimit: max });
  const isPrepared = max < 10;
  return {
    ...onMariaDb(pool, isPrepared),
    async transaction(work) {
      const connection = await pool.getConnection();
      try {
        await connection.beginTransaction();
        const changed = await work(onMariaDb(connection, isPrepared));
        await connection.commit();
        connection.release();
        return changed;
      } catch (error) {
        connection.destroy();
        throw error;
      }
    },
    close: () => pool.end(),
  };
}

/** @param max the most connections */
export function openEngine(url: string, max: number): Engine {
  return url.startsWith('mysql') ? openMariaDb(url, max) : openPostgres(url, max);
}
