/**
 * Simulates histories of the money, each from a seed.
 *
 *     pnpm lab simulation --histories 1000000 --seed 1 --workers 2
 *     pnpm lab simulation --tell 4711                          one history as a timeline
 *     pnpm lab simulation --tell 4711 --design read-then-write
 *
 * Exits with 1, the seed and the timeline if an invariant fails.
 */
import { fork } from 'node:child_process';
import { availableParallelism } from 'node:os';
import { bundleScript } from '../../test/servers/bundle.js';
import { readOptions } from '../options.js';
import { BROKEN, RIGHT } from './designs.js';
import type { Share, Sums } from './worker.js';
import { World } from './world.js';

const { values } = readOptions({
  options: {
    histories: { type: 'string', default: '1000' },
    seed: { type: 'string', default: '1' },
    workers: { type: 'string', default: String(availableParallelism()) },
    tell: { type: 'string' },
    design: { type: 'string' },
  },
});
const [count, first] = [Number(values.histories), Number(values.seed)];
const workers = Math.min(Number(values.workers), count);
if (![count, first, workers].every(Number.isSafeInteger) || workers < 1) {
  console.error('--histories, --seed and --workers must be whole numbers');
  process.exit(2);
}
/** Without the stacks of errors, which no invariant reads, and with fewer collections. */
const WORKER_FLAGS = ['--stack-trace-limit=0', '--always-sparkplug', '--max-semi-space-size=32'];
const PROGRESS_EVERY = Math.min(10_000, Math.ceil(count / 10));
process.exitCode = values.tell === undefined ? await simulate() : await tell(Number(values.tell));

async function tell(seed: number): Promise<number> {
  Object.assign(process.env, { NODE_ENV: 'production' });
  const design = values.design === undefined ? RIGHT : BROKEN[values.design];
  if (design === undefined) {
    console.error(`Unknown design. Broken designs: ${Object.keys(BROKEN).join(', ')}`);
    return 2;
  }
  const { timeline, violations } = await new World(seed, design).run();
  console.log(timeline.join('\n'));
  return violations.length > 0 ? 1 : 0;
}

async function simulate(): Promise<number> {
  const started = performance.now();
  // One file, because loaders and their helpers cost a sixth.
  const bundle = await bundleScript(new URL('worker.ts', import.meta.url));
  const children = Array.from({ length: workers }, () =>
    fork(bundle.path, { execArgv: WORKER_FLAGS }),
  );
  /** The last sums of each process. */
  const latest = new Map<number, Sums>();
  const sumOf = (key: 'histories' | 'happenings' | 'credits' | 'duration' | 'cpu'): number =>
    Array.from(latest.values(), (sums) => sums[key]).reduce((sum, each) => sum + each, 0);
  const share = (index: number): Promise<void> =>
    new Promise((resolve) => {
      const child = children[index]!;
      child.on('message', (sums: Sums) => {
        const before = Math.floor(sumOf('histories') / PROGRESS_EVERY);
        latest.set(index, sums);
        if (Math.floor(sumOf('histories') / PROGRESS_EVERY) > before)
          console.error(`${sumOf('histories')} of ${count} histories`);
        if (sums.violated) for (const other of children) if (other !== child) other.kill();
      });
      child.once('exit', () => resolve());
      child.send({ first: first + index, end: first + count, step: workers } satisfies Share);
    });
  await Promise.all(children.map((_, index) => share(index)));
  await bundle.remove();

  const violated = [...latest.values()].find((sums) => sums.violated)?.violated;
  if (violated) {
    console.log(violated.timeline.join('\n'));
    for (const { invariant, text } of violated.violations) console.log(`${invariant}: ${text}`);
    console.log(`\nAgain: pnpm lab simulation --tell ${violated.seed}`);
    return 1;
  }
  if (sumOf('histories') !== count) {
    console.error(`only ${sumOf('histories')} of ${count} histories came to their end`);
    return 2;
  }
  const crashes = new Map<string, number>();
  for (const sums of latest.values())
    for (const [point, times] of Object.entries(sums.crashes))
      crashes.set(point, (crashes.get(point) ?? 0) + times);
  for (const [point, times] of [...crashes].sort())
    console.log(`${String(times).padStart(8)} crashes: ${point}`);
  const seconds = ((performance.now() - started) / 1_000).toFixed(1);
  const hours = Math.round(sumOf('duration') / 3_600_000);
  console.log(
    `${count} histories from seed ${first}, ${sumOf('credits')} credits, 0 violations; ` +
      `${sumOf('happenings')} events in ${hours} virtual hours and ${seconds} s, ` +
      `${(sumOf('cpu') / count).toFixed(2)} ms of CPU each`,
  );
  return 0;
}
