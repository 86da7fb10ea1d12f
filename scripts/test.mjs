/** `npm test`: installs, builds, runs every test; the last line is the count, summed from the reporters. */
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { tooOld } from './node-version.mjs';

const problem = tooOld();
if (problem !== undefined) {
  console.error(problem);
  process.exit(1);
}

// Only now, since an older Node cannot even parse it.
const { build, install, ROOT, run } = await import('./bootstrap.mjs');

// npm waits five minutes for a connection that stalls, longer than a test may take for its installation: so it tries another sooner.
process.env['npm_config_fetch_timeout'] ??= '20000';

/** The counts of vitest's JSON report, or a failure where there is none: a run that crashed has not passed. */
async function countOf(file, exitCode) {
  let counts = { passed: 0, failed: 0, skipped: 0 };
  try {
    const report = JSON.parse(await readFile(file, 'utf8'));
    const skipped = report.numPendingTests + report.numTodoTests;
    counts = { passed: report.numPassedTests, failed: report.numFailedTests, skipped };
  } catch {
    // No report: the exit code decides.
  }
  // An error outside of a test (an unhandled rejection, a file that does not load) fails the run, but no test.
  if (exitCode !== 0 && counts.failed === 0) counts.failed = 1;
  return counts;
}

async function test(args) {
  await install();
  await build();
  const folder = await mkdtemp(join(tmpdir(), 'paylink-test-'));
  const file = join(folder, 'report.json');
  try {
    const vitest = join(ROOT, 'node_modules', 'vitest', 'vitest.mjs');
    const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${file}`];
    const exitCode = await run(process.execPath, [vitest, 'run', ...reporters, ...args]);
    const { passed, failed, skipped } = await countOf(file, exitCode);
    // A part of the tests says nothing about the rows that it leaves out.
    const matrix =
      args.length > 0
        ? 0
        : await run(process.execPath, [join(ROOT, 'scripts', 'attack-matrix.mjs'), file]);
    console.log(`${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`);
    return failed > 0 ? 1 : exitCode || matrix;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

try {
  process.exitCode = await test(process.argv.slice(2));
} catch (error) {
  console.error(error.message);
  console.log('0 passed, 1 failed');
  process.exitCode = 1;
}
