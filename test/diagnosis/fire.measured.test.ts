/**
 * Measures the cost of a stranger's bodies for genuine deliveries while mismatches are diagnosed,
 * outside production.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { signedDelivery } from '@paylink/testing';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { SECRET } from '../adapters/deliveries.js';
import { bundleScript, type Bundle } from '../servers/bundle.js';
import { forgedBodies } from './forged-bodies.js';
import { forgedHeaders, ReceiverProcess } from './receiver-process.js';

const genuine = signedDelivery({ secret: SECRET, reference: 'order-42' });
const bodies = forgedBodies.map(([, body]) => body);

let script: Bundle;
beforeAll(async () => {
  script = await bundleScript(new URL('server.ts', import.meta.url));
});
afterAll(() => script.remove());

const running: ReceiverProcess[] = [];
function start(host: string, diagnosis: 'on' | 'off'): ReceiverProcess {
  const receiver = new ReceiverProcess(script.path, host, diagnosis);
  running.push(receiver);
  return receiver;
}
afterEach(async () => {
  await Promise.all(running.splice(0).map((receiver) => receiver.end()));
});

/** Returns milliseconds. */
async function answerTime(receiver: ReceiverProcess): Promise<number> {
  const started = performance.now();
  expect(await receiver.post(genuine.rawBody, genuine.headers)).toBe(200);
  return performance.now() - started;
}

function quantile(times: readonly number[], share: number): number {
  return [...times].sort((a, b) => a - b)[Math.floor(times.length * share)]!;
}

describe('forged bodies that are expensive to diagnose', () => {
  const REQUESTS = 2_000;
  const INTERVAL = 8;

  it(
    'N14 delay genuine deliveries no more than without a diagnosis',
    { timeout: 120_000 },
    async ({ annotate }) => {
      // Two without a diagnosis: a difference between their p99 is the machine's noise.
      const receivers = (['on', 'off', 'off'] as const).map((diagnosis) =>
        start('node:http', diagnosis),
      );
      for (let time = 0; time < 200; time++) await Promise.all(receivers.map(answerTime));
      for (const receiver of receivers) receiver.openFire(bodies, 25);

      const times = receivers.map((): Promise<number>[] => []);
      // Sends one every few milliseconds, so that a blocked server delays many. Sends to all at
      // once, so that they meet the same noise, and to each as often first.
      for (let request = 0; request < REQUESTS; request++) {
        for (let turn = 0; turn < receivers.length; turn++) {
          const index = (request + turn) % receivers.length;
          times[index]!.push(answerTime(receivers[index]!));
        }
        await sleep(INTERVAL);
      }
      // Of all deliveries together: of a few hundred, p99 is the machine's three worst moments.
      const p99 = await Promise.all(
        times.map(async (each) => quantile(await Promise.all(each), 0.99)),
      );
      await Promise.all(receivers.map((receiver) => receiver.ceaseFire()));
      await annotate(`p99 ${p99.map((time) => time.toFixed(2)).join(', ')} ms`);
      const [diagnosing, ...silent] = p99 as [number, number, number];
      expect(diagnosing / Math.max(...silent)).toBeLessThan(1.2);
    },
  );

  const dearest = forgedBodies.filter(([name]) =>
    /^4096 bytes (nested to depth 1,|of flat)/.test(name),
  );

  it.each(['Fetch on Hono', 'Fastify 5'])(
    'N14 neither end nor fill a process with a heap of 512 MB: %s',
    { timeout: 60_000 },
    async (host) => {
      expect(dearest).toHaveLength(4);
      // Each in its own process, so that one diagnosis does not slow the others.
      const survive = async ([name, body]: (typeof dearest)[number]): Promise<void> => {
        const receiver = start(host, 'on');
        await answerTime(receiver);
        const before = await receiver.memory();
        expect(await receiver.post(body, forgedHeaders, false)).toBe(401);
        for (let time = 0; time < 20; time++) {
          await sleep(100);
          expect(await answerTime(receiver), name).toBeLessThan(1_000);
        }
        expect((await receiver.memory()) - before, name).toBeLessThan(100_000_000);
      };
      await Promise.all(dearest.map(survive));
    },
  );
});
