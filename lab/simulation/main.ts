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
import { mkdtempSync, rmSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { readOptions } from '../options.js';
import { BROKEN, RIGHT } from './designs.js';
import { noSums, type Share, type Sums } from './worker.js';
import { World } from './world.js';
import { SOURCE } from '../../scripts/source.mjs';

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
  const total = noSums();
  const folder = mkdtempSync(join(tmpdir(), 'paylink-simulation-'));
  const worker = await bundle(folder);
  const children = Array.from({ length: workers }, () => fork(worker, { execArgv: WORKER_FLAGS }));
  const share = (index: number): Promise<void> =>
    new Promise((resolve) => {
      const child = children[index]!;
      child.on('message', (sums: Sums) => {
        add(total, sums);
        if (sums.violated) for (const other of children) if (other !== child) other.kill();
      });
      child.once('exit', () => resolve());
      child.send({ first: first + index, end: first + count, step: workers } satisfies Share);
    });
  await Promise.all(children.map((_, index) => share(index)));
  rmSync(folder, { recursive: true });

  const { histories, happenings, credits, duration, cpu, crashes, violated } = total;
  if (violated) {
    console.log(violated.timeline.join('\n'));
    for (const { invariant, text } of violated.violations) console.log(`${invariant}: ${text}`);
    console.log(`\nAgain: pnpm lab simulation --tell ${violated.seed}`);
    return 1;
  }
  if (histories !== count) {
    console.error(`only ${histories} of ${count} histories came to their end`);
    return 2;
  }
  for (const [point, times] of Object.entries(crashes).sort())
    console.log(`${String(times).padStart(8)} crashes: ${point}`);
  const seconds = ((performance.now() - started) / 1_000).toFixed(1);
  const hours = Math.round(duration / 3_600_000);
  console.log(
    `${count} histories from seed ${first}, ${credits} credits, 0 violations; ` +
      `${happenings} events in ${hours} virtual hours and ${seconds} s, ` +
      `${(cpu / count).toFixed(2)} ms of CPU each`,
  );
  return 0;
}

/** Puts the worker and the sources into one file: loaders and their helpers cost a sixth. */
async function bundle(folder: string): Promise<string> {
  const outfile = join(folder, 'worker.mjs');
  await build({
    entryPoints: [fileURLToPath(new URL('worker.ts', import.meta.url))],
    outfile,
    bundle: true,
    platform: 'node',
    format: 'esm',
    conditions: [SOURCE],
  });
  return outfile;
}

function add(total: Sums, sums: Sums): void {
  const { histories, happenings, credits, duration, cpu, crashes, violated } = sums;
  const before = Math.floor(total.histories / PROGRESS_EVERY);
  total.histories += histories;
  total.happenings += happenings;
  total.credits += credits;
  total.duration += duration;
  total.cpu += cpu;
  for (const [point, times] of Object.entries(crashes)) {
    const key = point as keyof typeof crashes;
    total.crashes[key] = (total.crashes[key] ?? 0) + times;
  }
  if (violated) total.violated ??= violated;
  if (Math.floor(total.histories / PROGRESS_EVERY) > before)
    console.error(`${total.histories} of ${count} histories`);
}
