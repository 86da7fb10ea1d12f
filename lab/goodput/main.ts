/**
 * Measures the goodput of the line of questions over real sockets, with a service in a process of
 * its own. Exits with 1 below a floor.
 *
 *     pnpm lab goodput [--seconds 75] [--concurrency 32] [--latency 100]
 */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { createClient } from '@paylink/client';
import { readOptions } from '../options.js';
import { atOneLimit, beside, overload, type Service } from './load.js';

const { values } = readOptions({
  options: {
    seconds: { type: 'string', default: '75' },
    concurrency: { type: 'string', default: '32' },
    latency: { type: 'string', default: '100' },
  },
});
const [seconds, concurrency, latency] = [
  Number(values.seconds),
  Number(values.concurrency),
  Number(values.latency),
];
/** The share of the capacity at and above the capacity. */
const FLOOR = 0.9;

async function openService(latency: number, limit: number): Promise<Service & { close(): void }> {
  const file = fileURLToPath(new URL('service-process.ts', import.meta.url));
  const child = fork(file, [String(latency), String(limit)]);
  const [port] = (await once(child, 'message')) as [number];
  let asked = 0;
  child.on('message', () => asked++);
  const baseUrl = `http://127.0.0.1:${port}/api`;
  return {
    questions: () => asked,
    client: () => createClient({ baseUrl, apiKey: 'sk_live_lab.secret-part', retries: 0 }),
    close() {
      child.disconnect();
    },
  };
}

let hasFailed = false;
function say(holds: boolean, line: string): void {
  if (!holds) hasFailed = true;
  console.log(`${holds ? 'ok   ' : 'BELOW'} ${line}`);
}

const capacity = (1_000 * concurrency) / latency;
console.log(`capacity: ${concurrency} questions in flight / ${latency} ms = ${capacity} a second`);
for (const factor of [0.5, 1, 1.5, 2, 4]) {
  const service = await openService(latency, 0);
  const load = { concurrency, latency, factor, seconds };
  const { share, slowest } = await overload(service, load);
  service.close();
  const last = `${Math.round(share * capacity)} credits a second in the last third`;
  const told = `told after ${(slowest / 1_000).toFixed(1)} s at most`;
  const holds = share >= Math.min(1, factor) * FLOOR;
  say(holds, `${factor} times the capacity: ${last} (${share.toFixed(2)}), ${told}`);
}

const limited = await openService(20, 20);
const counts = { pages: 600, notifications: 30, scheduled: 40 };
const { notified, reconciled } = await beside(limited, counts);
say(
  Math.max(notified, reconciled) <= 120,
  '600 pages poll a service of 20 questions a second: 30 of 30 notifications credited in ' +
    `${notified.toFixed(0)} s, 40 of 40 orders of the schedule in ${reconciled.toFixed(0)} s`,
);
for (const [processes, most] of [
  [1, 1.5],
  [10, 2.5],
] as const) {
  const result = await atOneLimit(limited, { processes, notifications: 600 });
  const each = result.questionsEach.toFixed(2);
  const line = `600 notifications at 20 a second, ${processes} lines: 600 credited`;
  say(
    result.questionsEach <= most,
    `${line} in ${result.seconds.toFixed(0)} s, ${each} questions each`,
  );
}
limited.close();
process.exitCode = hasFailed ? 1 : 0;
