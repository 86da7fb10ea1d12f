import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort, untilReady } from './starting.js';

/** A real Redis for one test, on loopback. */
export interface RedisServer {
  readonly port: number;
  readonly url: string;
  /** Stops it like an operator: closes connections and writes the configured persistence. */
  stop(): Promise<void>;
  /** Sends SIGKILL, like a power cut. */
  kill(): Promise<void>;
  /** Starts again after `stop` or `kill`, with the same port and folder. */
  start(): Promise<void>;
  /** Pauses it with open connections, like a stalled disk or machine. */
  freeze(): void;
  thaw(): void;
  /** Ends the server and deletes its data. */
  close(): Promise<void>;
}

/** Writes to the disk before each reply. */
export const DURABLE = ['--appendonly', 'yes', '--appendfsync', 'always'];

/**
 * Returns true if the Redis tests must be skipped, for `describe.skipIf`. Prints a notice on a
 * developer's machine.
 *
 * @throws under CI, where untested code must not look tested
 */
export function withoutRedis(): boolean {
  if (spawnSync('redis-server', ['--version']).status === 0) return false;
  if (process.env['CI'])
    throw new Error('there is no redis-server on the PATH, and under CI no test may be left out');
  console.warn('SKIPPED: the tests on a real Redis, because there is no redis-server on the PATH');
  return true;
}

/**
 * Starts an empty server, which forgets everything at its end by default.
 *
 * @param settings flags of redis-server, such as DURABLE
 * @param command the server, or another that speaks the same protocol
 */
export async function startRedis(
  settings: readonly string[] = [],
  command = 'redis-server',
): Promise<RedisServer> {
  const folder = await mkdtemp(join(tmpdir(), 'paylink-redis-'));
  const port = await freePort();
  const args = [
    '--port',
    `${port}`,
    '--bind',
    '127.0.0.1',
    '--dir',
    folder,
    '--save',
    '',
    '--appendonly',
    'no',
    ...settings,
  ];
  let server: ChildProcess | undefined;
  const isUp = (): boolean => server?.exitCode === null && server.signalCode === null;

  const end = async (signal: NodeJS.Signals): Promise<void> => {
    if (!isUp()) return;
    const ended = once(server!, 'exit');
    server!.kill('SIGCONT');
    server!.kill(signal);
    await ended;
  };
  const atExit = (): void => {
    if (isUp()) server!.kill('SIGKILL');
  };
  process.once('exit', atExit);

  const start = async (): Promise<void> => {
    server = spawn(command, args, { stdio: ['ignore', 'pipe', 'ignore'] });
    await untilReady('Redis', server, server.stdout!);
  };
  await start();
  return {
    port,
    url: `redis://127.0.0.1:${port}`,
    start,
    stop: () => end('SIGTERM'),
    kill: () => end('SIGKILL'),
    freeze: () => void server!.kill('SIGSTOP'),
    thaw: () => void server!.kill('SIGCONT'),
    async close() {
      await end('SIGKILL');
      process.off('exit', atExit);
      await rm(folder, { recursive: true, force: true });
    },
  };
}
