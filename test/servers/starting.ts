/** What starting an engine takes, whichever it is. */
import type { ChildProcess } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';

/**
 * Resolves when the process says on `output` that it is ready. @throws with its last lines when it
 * ends before.
 */
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

/**
 * A port that was free a moment ago, for a server that cannot tell which one it chose, or that ends
 * and starts again on it. It is below those that an operating system gives away (from 32768 on
 * Linux, from 49152 elsewhere): a connection of another test that was given such a port in between
 * keeps the server from it, for a minute after its end too.
 */
export async function freePort(): Promise<number> {
  for (let tries = 1; ; tries += 1) {
    const port = randomInt(20_000, 32_768);
    const server = createServer().listen(port, '127.0.0.1');
    try {
      await once(server, 'listening');
    } catch (error) {
      if (tries === 100) throw error;
      continue;
    }
    server.close();
    await once(server, 'close');
    return port;
  }
}
