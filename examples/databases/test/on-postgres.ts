import { readFileSync } from 'node:fs';
import { Pool } from 'pg';
import { afterAll } from 'vitest';
import { startPostgres } from '../../../test/servers/postgres.js';

/**
 * Starts a PostgreSQL with these tables, and passes its address to the recipes. Returns the
 * merchant's own pool. Call it before `testRecipe`, so that it ends after the recipes are closed.
 */
export async function openPostgres(...tables: readonly string[]): Promise<Pool> {
  const server = await startPostgres({ fsync: 'off' });
  process.env['DATABASE_URL'] = server.url;
  const pool = new Pool({ connectionString: server.url, max: 2 });
  pool.on('error', () => undefined);
  afterAll(async () => {
    await pool.end();
    await server.close();
  });
  for (const name of tables)
    await pool.query(readFileSync(new URL(`../tables/${name}.sql`, import.meta.url), 'utf8'));
  return pool;
}
