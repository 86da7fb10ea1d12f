import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpus } from 'node:os';
import { fileURLToPath } from 'node:url';
import type { ContestantName } from './hosts/host.js';
import type { HostName } from './hosts/index.js';

export interface ServerProcess {
  readonly port: number;
  /** Returns the CPU microseconds of all threads since the start. */
  cpuTime(): Promise<number>;
  close(): void;
}

/** Pins a command to the core on which all servers run. */
export function onServerCore(command: readonly string[]): readonly string[] {
  return ['taskset', '--cpu-list', String(cpus().length - 1), ...command];
}

export async function startServer(host: HostName, name: ContestantName): Promise<ServerProcess> {
  const script = fileURLToPath(new URL('serve.ts', import.meta.url));
  const node = [process.execPath, ...process.execArgv, script, host, name];
  const [file, ...args] = onServerCore(node);
  const child = spawn(file!, args, {
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    env: { ...process.env, NODE_ENV: 'production' },
  });
  const died = once(child, 'exit').then(([code]): never => {
    throw new Error(`the server ${host}, ${name} ended with exit code ${String(code)}`);
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
    close: () => child.disconnect(),
  };
}
