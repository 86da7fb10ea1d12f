import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort, untilReady } from './starting.js';

/** A real Redis of this test's own, on loopback. */
export interface RedisServer {
  readonly port: number;
  readonly url: string;
  /**
   * Stops it as an operator would: connections are closed, and what persistence it has is written.
   */
  stop(): Promise<void>;
  /** SIGKILL, as a power cut would. */
  kill(): Promise<void>;
  /** After `stop` or `kill`, on the same port and folder. */
  start(): Promise<void>;
  /** Lets it hang, with its connections open, as a stalled disk or machine would. */
  freeze(): void;
  thaw(): void;
  /** Ends it and deletes its data. */
  close(): Promise<void>;
}

/** Written to the disk before each reply. */
export const DURABLE = ['--appendonly', 'yes', '--appendfsync', 'always'];

/**
 * Whether the tests on Redis have to be left out, for `describe.skipIf`: said aloud on a
 * developer's machine.
 *
 * @throws under CI, where what is not tested must not look tested
 */
export function withoutRedis(): boolean {
  if (spawnSync('redis-server', ['--version']).status === 0) return false;
  if (process.env['CI'])
    throw new Error('there is no redis-server on the PATH, and under CI no test may be left out');
  console.warn('SKIPPED: the tests on a real Redis, because there is no redis-server on the PATH');
  return true;
}

/**
 * Starts an empty server, which forgets everything when it ends unless told otherwise.
 *
 * @param settings flags of redis-server, such as DURABLE
 * @param command the server, which may be another that speaks the same protocol
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
