/**
 * Simulates histories of the money, each from a seed.
 *
 *     pnpm lab simulation --histories 1000000 --seed 1
 *     pnpm lab simulation --tell 4711                          one history as a timeline
 *     pnpm lab simulation --tell 4711 --design read-then-write
 *
 * Exits with 1, the seed and the timeline if an invariant fails.
 */
import { fork } from 'node:child_process';
import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';
import { readOptions } from '../options.js';
import { BROKEN, RIGHT } from './designs.js';
import { noSums, type Share, type Sums } from './worker.js';
import { World } from './world.js';

const { values } = readOptions({
  options: {
    histories: { type: 'string', default: '1000' },
    seed: { type: 'string', default: '1' },
    tell: { type: 'string' },
    design: { type: 'string' },
  },
});
const [count, first] = [Number(values.histories), Number(values.seed)];
if (!Number.isSafeInteger(count) || count < 1 || !Number.isSafeInteger(first)) {
  console.error('--histories and --seed must be whole numbers');
  process.exit(2);
}
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
  const step = Math.min(availableParallelism(), count);
  const worker = fileURLToPath(new URL('worker.ts', import.meta.url));
  const children = Array.from({ length: step }, () => fork(worker));
  const share = (index: number): Promise<void> =>
    new Promise((resolve) => {
      const child = children[index]!;
      child.on('message', (sums: Sums) => {
        add(total, sums);
        if (sums.violated) for (const other of children) if (other !== child) other.kill();
      });
      child.once('exit', () => resolve());
      child.send({ first: first + index, end: first + count, step } satisfies Share);
    });
  await Promise.all(children.map((_, index) => share(index)));

  const { histories, happenings, credits, duration, crashes, violated } = total;
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
      `${happenings} events in ${hours} virtual hours and ${seconds} s`,
  );
  return 0;
}

function add(total: Sums, { histories, happenings, credits, duration, crashes, violated }: Sums) {
  const before = Math.floor(total.histories / 10_000);
  total.histories += histories;
  total.happenings += happenings;
  total.credits += credits;
  total.duration += duration;
  for (const [point, times] of Object.entries(crashes)) {
    const key = point as keyof typeof crashes;
    total.crashes[key] = (total.crashes[key] ?? 0) + times;
  }
  if (violated) total.violated ??= violated;
  if (Math.floor(total.histories / 10_000) > before)
    console.error(`${total.histories} of ${count} histories`);
}
