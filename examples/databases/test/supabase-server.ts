import { readFileSync } from 'node:fs';
import { Pool } from 'pg';
import { startPostgres } from '../../../test/servers/postgres.js';
import { KEYS, ROLES, startPostgrest } from './postgrest.js';

/** A real PostgreSQL with the roles and the table of Supabase, behind the stand-in. */
export async function startSupabase() {
  const server = await startPostgres({ fsync: 'off' });
  const pool = new Pool({ connectionString: server.url, max: 2 });
  await pool.query(ROLES);
  await pool.query(readFileSync(new URL('../tables/supabase.sql', import.meta.url), 'utf8'));
  const postgrest = await startPostgrest(server.url);
  return {
    url: postgrest.url,
    secretKey: KEYS.service_role,
    /** For the merchant, who passes row level security. */
    pool,
    async close(): Promise<void> {
      await postgrest.close();
      await pool.end();
      await server.close();
    },
  };
}
