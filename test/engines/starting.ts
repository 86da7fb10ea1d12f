/** What starting an engine takes, whichever it is. */
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';

/** Resolves when the process says on `output` that it is ready. @throws with its last lines when it ends before. */
export async function untilReady(
  name: string,
  server: ChildProcess,
  output: Readable,
  ready = /ready to accept connections/i,
): Promise<void> {
  const lines: string[] = [];
  await new Promise<void>((resolve, reject) => {
    createInterface({ input: output }).on('line', (line) => {
      lines.push(line);
      if (lines.length > 50) lines.shift();
      if (ready.test(line)) resolve();
    });
    server.once('error', reject).once('exit', () => {
      reject(new Error(`${name} did not start:\n${lines.join('\n')}`));
    });
  });
}

/** A port that was free a moment ago, for a server that cannot tell which one it chose. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}
