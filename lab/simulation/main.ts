/**
 * Simulates histories of the money path, each from a seed.
 *
 *     pnpm lab simulation --histories 1000000 --seed 1
 *     pnpm lab simulation --histories 1 --seed 4711 --design no-fence --verbose
 *     pnpm lab simulation --designs
 *
 * Exits with 1 and the seed if an invariant fails, with 2 for a wrong option.
 */
import { fork } from 'node:child_process';
import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';
import { readOptions } from '../options.js';
import { BROKEN_NAMES, DESIGN_NAMES, type DesignName } from './designs/index.js';
import { designOf, RIGHT_DESIGNS, setProduction, type Progress, type Share } from './share.js';
import { World } from './world.js';

const { values } = readOptions({
  options: {
    histories: { type: 'string', default: '1000' },
    seed: { type: 'string', default: '1' },
    design: { type: 'string' },
    designs: { type: 'boolean', default: false },
    verbose: { type: 'boolean', default: false },
  },
});

process.exitCode = values.designs ? list() : await main();

function list(): number {
  console.log(BROKEN_NAMES.join('\n'));
  return 0;
}

async function main(): Promise<number> {
  const [count, first] = [Number(values.histories), Number(values.seed)];
  if (!Number.isSafeInteger(count) || count < 1)
    return refuse('--histories must be a whole number of at least 1');
  if (!Number.isSafeInteger(first) || first < 0)
    return refuse('--seed must be a whole number of at least 0');
  const named = DESIGN_NAMES.find((name) => name === values.design);
  if (values.design !== undefined && named === undefined) {
    return refuse(`Unknown design ${values.design}. Valid designs: ${DESIGN_NAMES.join(', ')}`);
  }
  const designs = named === undefined ? RIGHT_DESIGNS : [named];
  return values.verbose ? tell(first, count, designs) : simulate(first, count, designs);
}

function refuse(problem: string): number {
  console.error(problem);
  return 2;
}

/** Prints every history as a timeline, in turn. */
async function tell(first: number, count: number, designs: readonly DesignName[]): Promise<number> {
  setProduction();
  for (let seed = first; seed < first + count; seed += 1) {
    const design = designOf(seed, designs);
    const result = await new World(seed, design).run();
    console.log(`${result.timeline}\n`);
    if (result.violations.length > 0) return report({ ...result, design });
    console.log(`seed ${seed}, design ${design}: no invariant violated\n`);
  }
  return 0;
}

async function simulate(
  first: number,
  count: number,
  designs: readonly DesignName[],
): Promise<number> {
  const started = performance.now();
  const total = { histories: 0, happenings: 0, duration: 0 };
  let violated: Progress['violated'];
  let crashed = false;
  const step = Math.min(availableParallelism(), count);
  const processes = Array.from({ length: step }, () =>
    fork(fileURLToPath(new URL('share.ts', import.meta.url))),
  );
  await Promise.all(
    processes.map(
      (child, index) =>
        new Promise<void>((resolve) => {
          child.on('message', (progress: Progress) => {
            const before = total.histories;
            total.histories += progress.histories;
            total.happenings += progress.happenings;
            total.duration += progress.duration;
            if (Math.floor(before / 10_000) < Math.floor(total.histories / 10_000)) {
              console.error(`${total.histories} of ${count} histories`);
            }
            if (progress.violated === undefined) return;
            violated ??= progress.violated;
            for (const other of processes) if (other !== child) other.kill();
          });
          child.once('exit', (code) => {
            crashed ||= code !== 0 && violated === undefined;
            resolve();
          });
          child.send({ first: first + index, end: first + count, step, designs } satisfies Share);
        }),
    ),
  );
  if (violated !== undefined) {
    console.log(violated.timeline);
    return report(violated);
  }
  if (crashed || total.histories !== count)
    return refuse(`only ${total.histories} of ${count} histories came to their end`);
  const seconds = (performance.now() - started) / 1_000;
  console.log(
    `${count} histories (${designs.join(', ')}) from seed ${first}: 0 violations; ` +
      `${total.happenings} happenings ` +
      `in ${Math.round(total.duration / 3_600_000)} virtual hours and ${seconds.toFixed(1)} s`,
  );
  return 0;
}

function report({ seed, design, violations }: NonNullable<Progress['violated']>): number {
  console.log(`\nseed ${seed}, design ${design}:`);
  for (const { invariant, text } of violations) console.log(`  ${invariant}: ${text}`);
  console.log(
    `\nAgain: pnpm lab simulation --histories 1 --seed ${seed} --design ${design} --verbose`,
  );
  return 1;
}
