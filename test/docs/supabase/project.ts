/** A Supabase project without Docker: a database, PostgREST, and the command `supabase`. */
import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Client } from 'pg';
import { ROLES, startPostgrest } from '../../../examples/databases/test/postgrest.js';
import { SOURCE } from '../../../scripts/source.mjs';
import { startPostgres } from '../../servers/postgres.js';
import { freePort } from '../../servers/starting.js';

const at = (path: string): string => fileURLToPath(new URL(path, import.meta.url));

export interface SupabaseProject {
  readonly database: Client;
  readonly gatewayPort: number;
  /** The folder of a package with the command. */
  readonly command: string;
  close(): Promise<void>;
}

export async function startSupabaseProject(): Promise<SupabaseProject> {
  const command = await mkdtemp(join(tmpdir(), 'paylink-supabase-'));
  const server = await startPostgres({ fsync: 'off' });
  const database = new Client({ connectionString: server.url });
  await database.connect();
  await database.query(ROLES);
  await database.query(await readFile(at('extensions.sql'), 'utf8'));
  const postgrest = await startPostgrest(server.url);
  const gatewayPort = await freePort();
  const manifest = { name: 'supabase', version: '2.0.0', bin: { supabase: 'supabase.sh' } };
  await writeFile(join(command, 'package.json'), JSON.stringify(manifest));
  const settings = `DATABASE='${server.url}' POSTGREST='${postgrest.url}' GATEWAY_PORT=${gatewayPort}`;
  const tsx = at('../../../node_modules/tsx/dist/loader.mjs');
  const run = `'${process.execPath}' --conditions=${SOURCE} --import '${tsx}' '${at('stand-in.ts')}'`;
  await writeFile(join(command, 'supabase.sh'), `#!/bin/sh\n${settings} exec ${run} "$@"\n`);
  await chmod(join(command, 'supabase.sh'), 0o755);
  return {
    database,
    gatewayPort,
    command,
    async close() {
      await postgrest.close();
      await database.end();
      await server.close();
      await rm(command, { recursive: true, force: true });
    },
  };
}
