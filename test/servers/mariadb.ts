import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { chown, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort, untilReady } from './starting.js';

/** A real MariaDB for one test file, on loopback, as a non-root user. */
export interface MariaDbServer {
  /** Its database is empty. The user `paylink` may do everything. */
  readonly url: string;
  /** Sends SIGKILL, like a power cut. The data stays. */
  kill(): Promise<void>;
  /** Starts again after `kill`, with the same port and data. */
  start(): Promise<void>;
  /** Ends the server and deletes its data. */
  close(): Promise<void>;
}

const AS_ROOT = process.getuid?.() === 0;
const NOBODY = { uid: 65_534, gid: 65_534 };
const USER = AS_ROOT ? NOBODY : {};

/**
 * Starts Debian's server (package `mariadb-server`) with the database `shop`.
 *
 * @param settings options of mariadbd, such as `{ sql_mode: '' }`
 */
export async function startMariaDb(
  settings: Readonly<Record<string, string | number>> = {},
): Promise<MariaDbServer> {
  const folder = await mkdtemp(join(tmpdir(), 'paylink-mariadb-'));
  if (AS_ROOT) await chown(folder, NOBODY.uid, NOBODY.gid);
  const data = join(folder, 'data');
  // A server that starts removes the temporary tables of others in a shared folder.
  const environment = { ...USER, env: { ...process.env, TMPDIR: folder } };
  execFileSync(
    'mariadb-install-db',
    [
      '--no-defaults',
      `--datadir=${data}`,
      '--skip-test-db',
      '--auth-root-authentication-method=normal',
    ],
    { ...environment, stdio: ['ignore', 'ignore', 'pipe'] },
  );
  const port = await freePort();
  const flags = Object.entries({
    datadir: data,
    'bind-address': '127.0.0.1',
    port,
    socket: join(folder, 'socket'),
    'innodb-buffer-pool-size': '64M',
    ...settings,
  });
  let server: ChildProcess | undefined;
  const end = async (signal: NodeJS.Signals): Promise<void> => {
    if (server?.exitCode !== null || server.signalCode !== null) return;
    const ended = once(server, 'exit');
    server.kill(signal);
    await ended;
  };
  const atExit = (): void => void server?.kill('SIGKILL');
  process.once('exit', atExit);
  const start = async (): Promise<void> => {
    const options = ['--no-defaults', ...flags.map(([name, value]) => `--${name}=${value}`)];
    server = spawn('mariadbd', options, { ...environment, stdio: ['ignore', 'ignore', 'pipe'] });
    await untilReady('MariaDB', server, server.stderr!, /ready for connections/);
  };
  await start();
  const statements =
    "CREATE DATABASE shop; CREATE USER paylink@'127.0.0.1'; GRANT ALL ON *.* TO paylink@'127.0.0.1'";
  execFileSync('mariadb', [
    '--no-defaults',
    `--socket=${join(folder, 'socket')}`,
    '-uroot',
    '-e',
    statements,
  ]);
  return {
    url: `mysql://paylink@127.0.0.1:${port}/shop`,
    start,
    kill: () => end('SIGKILL'),
    async close() {
      await end('SIGKILL');
      process.off('exit', atExit);
      await rm(folder, { recursive: true, force: true });
    },
  };
}
