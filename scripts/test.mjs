/**
 * `npm test`: installs, builds, and runs the tests. The last line is the count.
 *
 *     npm test                     the tests of a change, in minutes
 *     npm test -- --long           the others: Chromium, Next.js builds, tarballs, kills, times
 *     npm test -- packages/core    the files that vitest finds by these words
 *
 * The first two leave their reports for attacks.mjs.
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

const SHORT = ['core on *', 'packages', 'alone', 'adapters', 'across packages'];
const LONG = ['lab', 'built', 'measured'];
const projects = (names) => names.map((name) => `--project=${name}`);

function choose(args) {
  if (args.length === 0) return { name: 'short', filters: projects(SHORT) };
  if (args[0] !== '--long') return { name: 'some', filters: args };
  return { name: 'long', filters: [...projects(LONG), ...args.slice(1)] };
}

async function test(args) {
  const { name, filters } = choose(args);
  await install();
  // The short tests run on the sources.
  if (name !== 'short') await build();
  const file = join(ROOT, 'node_modules', '.cache', 'paylink-tests', `${name}.json`);
  await rm(file, { force: true });
  await mkdir(dirname(file), { recursive: true });
  const vitest = join(ROOT, 'node_modules', 'vitest', 'vitest.mjs');
  const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${file}`];
  const exitCode = await run(process.execPath, [vitest, 'run', ...reporters, ...filters]);
  const { passed, failed, skipped } = await countOf(file, exitCode);
  console.log(`${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`);
  return failed > 0 ? 1 : exitCode;
}

try {
  process.exitCode = await test(process.argv.slice(2));
} catch (error) {
  console.error(error.message);
  console.log('0 passed, 1 failed');
  process.exitCode = 1;
}
