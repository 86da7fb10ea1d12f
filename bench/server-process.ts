import { fork } from 'node:child_process';
import { once } from 'node:events';
import type { ContestantName } from './hosts/host.js';
import type { HostName } from './hosts/index.js';

export interface ServerProcess {
  readonly port: number;
  /** The microseconds of CPU time, of all threads, that the server has used since it began. */
  cpuTime(): Promise<number>;
  close(): void;
}

export async function startServer(host: HostName, contestant: ContestantName): Promise<ServerProcess> {
  const child = fork(new URL('serve.ts', import.meta.url), [host, contestant]);
  const died = once(child, 'exit').then(([code]): never => {
    throw new Error(`the server ${host}, ${contestant} ended with exit code ${String(code)}`);
  });
  // A message goes to the promise that waits for it; after `close` none does.
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
