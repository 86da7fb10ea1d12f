import { chmod, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Client } from 'pg';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startPage } from '../../docs/.vitepress/start-pages.js';
import { ROLES, startPostgrest, type Postgrest } from '../../examples/databases/test/postgrest.js';
import { startPostgres, type PostgresServer } from '../servers/postgres.js';
import { freePort } from '../servers/starting.js';
import { startReader, stepsOf } from './quick-start.js';
import { SOURCE } from '../../scripts/source.mjs';

const at = (path: string): string => fileURLToPath(new URL(path, import.meta.url));

let folder: string;
let server: PostgresServer;
let postgrest: Postgrest;
let database: Client;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'paylink-supabase-'));
  server = await startPostgres({ fsync: 'off' });
  database = new Client({ connectionString: server.url });
  await database.connect();
  await database.query(ROLES);
  await database.query(await readFile(at('supabase/extensions.sql'), 'utf8'));
  postgrest = await startPostgrest(server.url);
}, 60_000);

afterAll(async () => {
  await postgrest.close();
  await database.end();
  await server.close();
  await rm(folder, { recursive: true, force: true });
});

/** Writes a package with the command `supabase`, which runs the stand-in. Returns its folder. */
async function supabaseCommand(gatewayPort: number): Promise<string> {
  const command = join(folder, 'supabase');
  await mkdir(command);
  const manifest = { name: 'supabase', version: '2.0.0', bin: { supabase: 'supabase.sh' } };
  await writeFile(join(command, 'package.json'), JSON.stringify(manifest));
  const settings = `DATABASE='${server.url}' POSTGREST='${postgrest.url}' GATEWAY_PORT=${gatewayPort}`;
  const tsx = at('../../node_modules/tsx/dist/loader.mjs');
  const run = `'${process.execPath}' --conditions=${SOURCE} --import '${tsx}' '${at('supabase/stand-in.ts')}'`;
  await writeFile(join(command, 'supabase.sh'), `#!/bin/sh\n${settings} exec ${run} "$@"\n`);
  await chmod(join(command, 'supabase.sh'), 0o755);
  return command;
}

it('leads a reader of the Supabase quick start to a credited payment, a schedule and a passing test', async () => {
  const gatewayPort = await freePort();
  const page = await startPage('en', 'supabase');
  const reader = await startReader({
    ports: { 54321: gatewayPort },
    packages: { 'supabase@2': await supabaseCommand(gatewayPort) },
  });
  try {
    for (const step of stepsOf(page)) await reader.do(step);
    const paid = 'SELECT count(*)::int AS paid FROM orders WHERE paid_at IS NOT NULL';
    expect((await database.query<{ paid: number }>(paid)).rows[0]!.paid).toBeGreaterThan(0);

    // The schedule credits what the webhook missed. The settings are those of the page's own block.
    const text = await readFile(join(reader.folder, 'shop/supabase/functions/.env'), 'utf8');
    const cronSecret = /^CRON_SECRET=(.+)$/m.exec(text)![1]!;
    const [, vault = ''] = /^```sql production\n(.*?)^```$/ms.exec(page) ?? [];
    await database.query(
      vault
        .replace(/https:\/\/<your project>\.supabase\.co/, `http://127.0.0.1:${gatewayPort}`)
        .replace(/<CRON_SECRET[^>]*>/, cronSecret),
    );
    const { reference } = JSON.parse(
      await readFile(join(reader.folder, 'shop/order.json'), 'utf8'),
    ) as { reference: string };
    await database.query('UPDATE orders SET paid_at = NULL WHERE reference = $1', [reference]);
    const { rows: jobs } = await database.query<{ command: string }>(
      'SELECT command FROM cron.job',
    );
    await database.query(jobs[0]!.command);
    const { rows: calls } = await database.query<{ url: string; headers: Record<string, string> }>(
      'SELECT url, headers FROM net.requests',
    );
    const [{ url, headers } = { url: '', headers: {} }] = calls;
    expect((await fetch(url, { method: 'POST' })).status).toBe(401);
    const reply = await fetch(url, { method: 'POST', headers });
    expect(await reply.json()).toMatchObject({ credited: 1 });
  } finally {
    await reader.close();
  }
}, 300_000);
