/**
 * Checks properties of the whole on generated cases. Prints the number of cases, or the smallest
 * failing case with its seed. Exits with 1 if a property fails, with 2 for a wrong option.
 *
 *     pnpm lab properties --runs 10000000 [--seed S] [--only NAME]
 */
import { spawnSync } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import fc from 'fast-check';
import { readOptions } from '../options.js';
import { exactSignature } from './exact-signature.js';

type Run = (runs: number, seed: number) => void | Promise<void>;

interface Property {
  readonly name: string;
  readonly says: string;
  /** The share per thousand cases. */
  readonly share: number;
  /** The least number of cases for enough variety. */
  readonly least?: number;
  readonly run: Run;
}

// Splits the cases into rounds, because a generator keeps the cases of its round in memory.
const ROUND = 50_000;

function checking(property: fc.IAsyncProperty<unknown>): Run {
  return async (runs, seed) => {
    for (let left = runs, round = 0; left > 0; left -= ROUND, round++) {
      await fc.assert(property, { numRuns: Math.min(left, ROUND), seed: seed + round });
    }
  };
}

const properties: readonly Property[] = [
  {
    name: 'signature',
    says: 'accepted if and only if it is the exact MAC',
    share: 980,
    run: checking(exactSignature()),
  },
  {
    name: 'reading',
    says: 'nothing but a WebhookError is thrown by reading',
    share: 20,
    run: (runs) => {
      for (let left = runs; left > 0; left -= ROUND)
        runSuite('packages/core/test/fuzz.test.ts', { PAYLINK_FUZZ_RUNS: Math.min(left, ROUND) });
    },
  },
  {
    name: 'hosts',
    says: 'every host gives the same status and body',
    share: 0.4,
    least: 200,
    run: (runs, seed) =>
      runSuite('test/adapters/differential.test.ts', {
        PAYLINK_DIFFERENTIAL: runs,
        PAYLINK_SEED: seed,
      }),
  },
];

/** Runs a suite of the tests with more cases. */
function runSuite(file: string, variables: Readonly<Record<string, number>>): void {
  const { status, stdout, stderr } = spawnSync(
    'npx',
    ['vitest', 'run', file, '--testTimeout=36000000'],
    {
      cwd: fileURLToPath(new URL('../..', import.meta.url)),
      env: { ...process.env, ...variables } as NodeJS.ProcessEnv,
      encoding: 'utf8',
    },
  );
  if (status !== 0) throw new Error(stdout + stderr);
}

function refuse(): never {
  const names = properties.map(({ name }) => name).join('|');
  console.error(`usage: pnpm lab properties [--runs N] [--seed S] [--only ${names}]`);
  process.exit(2);
}

const { values } = readOptions({
  options: {
    runs: { type: 'string', default: '200000' },
    seed: { type: 'string' },
    only: { type: 'string' },
  },
});
const total = Number(values.runs);
const seed = Number(values.seed ?? randomInt(2 ** 30));
const chosen = properties.filter(({ name }) => values.only === undefined || name === values.only);
if (!Number.isSafeInteger(total) || total < 1 || chosen.length === 0) refuse();

let ran = 0;
const shares = chosen.reduce((sum, { share }) => sum + share, 0);
console.log(`seed ${seed}`);
for (const { name, says, share, least = 1, run } of chosen) {
  const runs = Math.max(least, Math.round((total * share) / shares));
  const started = performance.now();
  try {
    await run(runs, seed);
  } catch (error) {
    console.error(`${name}: ${says}: FAILED\n${String(error)}`);
    process.exit(1);
  }
  ran += runs;
  const seconds = ((performance.now() - started) / 1_000).toFixed(1);
  console.log(
    `${name.padEnd(10)} ${runs.toLocaleString('en').padStart(12)}  ${says} (${seconds} s)`,
  );
}
console.log(`${ran.toLocaleString('en')} cases, 0 failed`);
