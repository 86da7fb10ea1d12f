/**
 * Runs the tests while two busy loops per core take the processor, so that a test that waits for a
 * time instead of an event fails.
 *
 *     pnpm lab under-load                 the files with time limits
 *     pnpm lab under-load --long          the short suite
 *     pnpm lab under-load test/audit      the files that vitest finds by these words
 */
import { spawn } from 'node:child_process';
import { availableParallelism } from 'node:os';
import { ROOT, run } from '../scripts/bootstrap.mjs';

// Each ends when this process is gone, even by SIGKILL. A leftover loop would slow later runs.
const BUSY = 'const { ppid } = process; while (process.ppid === ppid);';
const loops = Array.from({ length: 2 * availableParallelism() }, () =>
  spawn(process.execPath, ['-e', BUSY], { stdio: 'ignore' }),
);
try {
  const vitest = `${ROOT}/node_modules/vitest/vitest.mjs`;
  const projects = ['core on *', 'together', 'adapters', 'alone'];
  const env = { ...process.env, PAYLINK_TESTS: 'short' };
  process.exitCode = await run(
    process.execPath,
    [
      ...[vitest, 'run'],
      ...projects.map((project) => `--project=${project}`),
      ...process.argv.slice(2),
    ],
    { env },
  );
} finally {
  for (const loop of loops) loop.kill('SIGKILL');
}
