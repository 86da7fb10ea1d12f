/**
 * Runs the tests while two busy loops per core take the processor: a test that waits for a time
 * instead of an event fails.
 *
 *     pnpm lab under-load --times 6              the whole suite, six times
 *     pnpm lab under-load --timing               once, the files with time limits
 *     pnpm lab under-load --times 3 test/audit   the files that vitest finds by these words
 *
 * --workers 4 runs twice as many files at once. The loops leave each of them less of a core, and
 * the whole ends sooner.
 */
import { spawn } from 'node:child_process';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { ROOT, run } from '../scripts/bootstrap.mjs';

/** Limits, turns, leases and slow senders. */
const TIMING = [
  'packages/core/test/time-limit',
  'packages/payments/test/settle',
  'packages/postgres/test/transactions',
  'test/adapters/slow-senders',
];

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    times: { type: 'string', default: '1' },
    timing: { type: 'boolean', default: false },
    workers: { type: 'string', default: '2' },
  },
});
// The files of --timing run on the sources, so they need no build.
const command = values.timing
  ? [join(ROOT, 'node_modules', 'vitest', 'vitest.mjs'), 'run', ...TIMING]
  : [join(ROOT, 'scripts', 'test.mjs'), ...positionals];

const env = { ...process.env, PAYLINK_TEST_WORKERS: values.workers };

// Each ends when this process is gone, even by SIGKILL, because a leftover loop would slow later
// runs.
const BUSY = 'const { ppid } = process; while (process.ppid === ppid);';
const loops = Array.from({ length: 2 * availableParallelism() }, () =>
  spawn(process.execPath, ['-e', BUSY], { stdio: 'ignore' }),
);
process.once('exit', () => {
  for (const loop of loops) loop.kill('SIGKILL');
});
// The present run gets the signal too, and no further run starts.
let isEnded = false;
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => (isEnded = true));

let failed = 0;
for (let time = 1; time <= Number(values.times); time++) {
  const code = await run(process.execPath, command, { env });
  console.log(
    `run ${time} of ${values.times} beside ${loops.length} busy loops: ` +
      `${code === 0 ? 'passed' : 'FAILED'}`,
  );
  if (isEnded) process.exit(130);
  if (code !== 0) failed += 1;
}
console.log(`${values.times} runs, ${failed} failed`);
process.exit(failed === 0 ? 0 : 1);
