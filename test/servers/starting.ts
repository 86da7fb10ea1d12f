/** Shared helpers to start engines. */
import type { ChildProcess } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';

/**
 * Resolves when the process reports on `output` that it is ready. @throws with its last lines if it
 * ends before
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
 * Returns a port that was just free, for a server that cannot report its own port or that restarts
 * on it. Below the ephemeral ports (from 32768 on Linux, from 49152 elsewhere): another test's
 * connection on such a port would block the server, even for a minute after its end.
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
