/** Servers under measurement, each in a process of its own. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { cpus } from 'node:os';
import { fileURLToPath } from 'node:url';

export interface ServerProcess {
  readonly port: number;
  /** Returns the CPU microseconds of all threads since the start. */
  cpuTime(): Promise<number>;
  close(): Promise<void>;
}

/** Pins a command to the core on which all servers run. */
export function onServerCore(command: readonly string[]): readonly string[] {
  return ['taskset', '--cpu-list', String(cpus().length - 1), ...command];
}

/** Starts a script of this folder, which calls `answerBench`. */
export async function startServer(
  script: string,
  args: readonly string[],
  place: typeof onServerCore = (command) => command,
): Promise<ServerProcess> {
  const path = fileURLToPath(new URL(script, import.meta.url));
  const [file, ...rest] = place([process.execPath, ...process.execArgv, path, ...args]);
  const child = spawn(file!, rest, {
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    env: { ...process.env, NODE_ENV: 'production' },
  });
  const ended = once(child, 'exit');
  const died = ended.then(([code]): never => {
    throw new Error(`${script} ${args.join(' ')} ended with exit code ${String(code)}`);
  });
  // Messages resolve the promise that waits for them. After `close`, none waits.
  died.catch(() => undefined);

  async function nextMessage(): Promise<number> {
    const [message] = (await Promise.race([once(child, 'message'), died])) as [number];
    return message;
  }

  return {
    port: await nextMessage(),
    cpuTime() {
      child.send('cpu time');
      return nextMessage();
    },
    async close() {
      child.disconnect();
      await ended;
    },
  };
}

/** In the server's process: listens, and answers the bench until it disconnects. */
export function answerBench(server: Server): void {
  // Connections wait during the others' turns.
  server.keepAliveTimeout = 600_000;
  server.listen(0, '127.0.0.1', () => {
    process.send!((server.address() as AddressInfo).port);
  });
  process.on('message', () => {
    const { user, system } = process.cpuUsage();
    process.send!(user + system);
  });
  process.on('disconnect', () => process.exit());
}
