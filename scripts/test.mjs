/**
 * `npm test`: installs, and runs the tests. The last line is the count.
 *
 *     npm test                         the tests of a change, in minutes
 *     npm test -- --long               the others: databases, Chromium, builds, tarballs, kills
 *     npm test -- --long --no-build    the same on the packages as they are built
 *     npm test -- --measured           compares times, so nothing else may run
 *     npm test -- packages/core        the files that vitest finds by these words
 *
 * Each leaves a report for attacks.mjs.
 */
import { mkdir, readFile, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { build, install, ROOT, run } from './bootstrap.mjs';

// npm waits five minutes for a stalled connection, longer than a test's limit. This value makes it
// retry sooner.
const { npm_config_fetch_timeout = '20000' } = process.env;
process.env.npm_config_fetch_timeout = npm_config_fetch_timeout;

/**
 * Returns the counts of vitest's JSON report. A run without a report has crashed and counts as
 * failed.
 */
async function countOf(file, exitCode) {
  let counts = { passed: 0, failed: 0, skipped: 0 };
  try {
    const report = JSON.parse(await readFile(file, 'utf8'));
    const skipped = report.numPendingTests + report.numTodoTests;
    counts = { passed: report.numPassedTests, failed: report.numFailedTests, skipped };
  } catch {
    // No report: the exit code decides.
  }
  // An error outside a test (an unhandled rejection, a file that does not load) fails the run, but
  // no test.
  if (exitCode !== 0 && counts.failed === 0) counts.failed = 1;
  return counts;
}

/** Core has a threshold of its coverage. */
const CORE = ['--project=core on *', '--coverage', '--coverage.include=packages/core/src/**'];
const SHORT = ['--project=together', '--project=adapters', '--project=alone'];
/** Words of the names of files. vitest.config.ts lists the kinds. */
const LONG = ['.long.test.ts', '.built.test.ts'];
const MEASURED = ['.measured.test.ts', '--no-file-parallelism'];

/** Returns the runs of vitest, by the name of the report. */
function choose([option, ...rest]) {
  if (option === undefined) return { core: CORE, short: SHORT };
  if (option === '--long') return { long: LONG };
  if (option === '--measured') return { measured: MEASURED };
  return { some: [option, ...rest] };
}

async function vitest(name, filters) {
  const file = join(ROOT, 'node_modules', '.cache', 'paylink-tests', `${name}.json`);
  await rm(file, { force: true });
  await mkdir(dirname(file), { recursive: true });
  const command = join(ROOT, 'node_modules', 'vitest', 'vitest.mjs');
  const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${file}`];
  const exitCode = await run(process.execPath, [command, 'run', ...reporters, ...filters]);
  return countOf(file, exitCode);
}

async function test(args) {
  await install();
  // Once, before files that need it run side by side.
  await import('../examples/databases/generate.mjs');
  const isShort = args.length === 0;
  if (isShort) process.env.PAYLINK_TESTS = 'short';
  const isOnSources = isShort || args[0] === '--measured';
  if (!isOnSources && args[1] !== '--no-build') await build();
  const total = { passed: 0, failed: 0, skipped: 0 };
  for (const [name, filters] of Object.entries(choose(args))) {
    const counts = await vitest(name, filters);
    for (const key of Object.keys(total)) total[key] += counts[key];
  }
  const { passed, failed, skipped } = total;
  console.log(`${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`);
  return failed > 0 ? 1 : 0;
}

try {
  process.exitCode = await test(process.argv.slice(2));
} catch (error) {
  console.error(error.message);
  console.log('0 passed, 1 failed');
  process.exitCode = 1;
}
