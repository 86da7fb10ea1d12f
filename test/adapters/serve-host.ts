/** Runs a host in its own process, for tests of memory, signals and crashes. Forked by child.ts. */
import { setTimeout as sleep } from 'node:timers/promises';
import { SECRET } from './deliveries.js';
import { loadHost, type HostName } from './hosts/load.js';
import type { ChildMessage } from './child.js';
import { watchExceptions } from './thrown-exceptions.js';

const [name = '', bodyLimit = '65536'] = process.argv.slice(2);
const host = await loadHost(name as HostName);
const tell = (message: ChildMessage): void => void process.send!(message);

const listening = await host.listen({
  options: { secret: SECRET, bodyLimit: Number(bodyLimit), bodyTimeout: 60_000 },
  onHostError: () => undefined,
  handler: async ({ reference }) => {
    tell({ handling: reference });
    if (reference === 'order-crash') {
      // An error of other code in the same process, while this order is half done.
      setTimeout(() => {
        throw new Error('in a timer of the application');
      }, 20);
    }
    if (reference !== 'order-quick') await sleep(300);
    tell({ handled: reference });
  },
});

process.once('SIGTERM', () => {
  void listening.close().then(() => {
    tell({ closed: true });
    process.disconnect();
  });
});

let exceptions: (() => Promise<readonly string[]>) | undefined;

process.on('message', (asked) => {
  if (asked === 'exceptions') {
    void (async () => {
      exceptions ??= await watchExceptions();
      tell({ exceptions: await exceptions() });
    })();
    return;
  }
  if (asked !== 'memory') {
    tell({ turned: true });
    return;
  }
  void (async () => {
    // Another thread frees buffers, possibly late. This repeats until a round frees nothing more.
    for (let [least, round] = [Infinity, 0]; round < 40; round++) {
      globalThis.gc!();
      await sleep(50);
      const { heapUsed, external } = process.memoryUsage();
      if (round > 2 && heapUsed + external > 0.99 * least) break;
      least = Math.min(least, heapUsed + external);
    }
    const { rss, heapUsed, external } = process.memoryUsage();
    tell({ memory: { rss, live: heapUsed + external } });
  })();
});

tell({ port: listening.port });
