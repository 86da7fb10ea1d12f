import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chown, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { PostgresServer } from '../../test/servers/postgres.js';
import { freePort, untilReady } from '../../test/servers/starting.js';

export interface PgBouncer {
  /** The PostgreSQL, through the pooler. */
  readonly url: string;
  close(): Promise<void>;
}

/** Starts a PgBouncer with fewer server connections than client connections. */
export async function startPgBouncer(server: PostgresServer): Promise<PgBouncer> {
  const folder = await mkdtemp(join(tmpdir(), 'paylink-pgbouncer-'));
  const port = await freePort();
  const file = join(folder, 'pgbouncer.ini');
  await writeFile(join(folder, 'users'), '"postgres" ""\n');
  await writeFile(
    file,
    `[databases]
* = host=127.0.0.1 port=${server.port} user=postgres
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = any
auth_file = ${join(folder, 'users')}
pool_mode = transaction
default_pool_size = 6
max_client_conn = 500
`,
  );
  // PgBouncer refuses to run as root.
  const asRoot = process.getuid?.() === 0;
  if (asRoot)
    for (const path of [folder, file, join(folder, 'users')]) await chown(path, 65_534, 65_534);
  const pooler = spawn('pgbouncer', [file], {
    ...(asRoot ? { uid: 65_534, gid: 65_534 } : {}),
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  await untilReady('PgBouncer', pooler, pooler.stderr, /process up/);
  return {
    url: `postgres://postgres@127.0.0.1:${port}/postgres`,
    async close() {
      const ended = once(pooler, 'exit');
      pooler.kill('SIGKILL');
      await ended;
      await rm(folder, { recursive: true, force: true });
    },
  };
}
