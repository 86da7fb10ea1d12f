/** `pnpm check`: types, lint and format of what changed since main, and the tests of the packages that it lies in. */
import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT, run } from './bootstrap.mjs';

const git = (...args) =>
  execFileSync('git', args, { cwd: ROOT, stdio: ['ignore', 'pipe', 'ignore'] })
    .toString()
    .trim();

/** Where this branch left main; where there is no main, the last commit. */
function base() {
  for (const main of ['main', 'origin/main']) {
    try {
      return git('merge-base', main, 'HEAD');
    } catch {
      // No such branch here.
    }
  }
  return 'HEAD';
}

function changedFiles() {
  const changed = git('diff', '--name-only', '--diff-filter=d', base()).split('\n');
  const untracked = git('ls-files', '--others', '--exclude-standard').split('\n');
  return [...new Set([...changed, ...untracked])].filter(
    (path) => path !== '' && existsSync(join(ROOT, path)),
  );
}

/** A package's tests start processes and servers, so no graph of imports knows which of them a file concerns: all of the folder. */
function testsOf(files) {
  const folders = files.map(
    (path) =>
      /^(?:packages|examples)\/[^/]+\//.exec(path)?.[0] ??
      /^test\/(?!site\/built\/).*\.test\.ts$/.exec(path)?.[0],
  );
  const house = files.some((path) =>
    /^(scripts\/|[^/]+$|packages\/[^/]+\/package\.json$)/.test(path),
  )
    ? ['test/repository/']
    : [];
  return [...new Set([...folders, ...house])].filter((filter) => filter !== undefined);
}

async function step(name, script, args) {
  const started = performance.now();
  const output = [];
  const code = await run(
    process.execPath,
    [join(ROOT, script), ...args],
    { stdio: ['ignore', 'pipe', 'pipe'] },
    (text) => output.push(text),
  );
  if (code !== 0) process.stdout.write(Buffer.concat(output));
  const seconds = ((performance.now() - started) / 1000).toFixed(1);
  console.log(`${code === 0 ? 'ok    ' : 'FAILED'} ${name}, ${seconds} s`);
  return code === 0;
}

const files = changedFiles();
const code = files.filter((path) => /\.([cm]?js|tsx?)$/.test(path));
const tests = testsOf(files);
console.log(
  `${files.length} files changed${tests.length > 0 ? `; tests of ${tests.join(', ')}` : ''}`,
);

const steps = [step('types', 'scripts/types.mjs', [])];
if (code.length > 0) {
  steps.push(
    step('lint', 'node_modules/eslint/bin/eslint.js', [
      '--max-warnings',
      '0',
      '--no-warn-ignored',
      ...code,
    ]),
  );
}
if (files.length > 0) {
  steps.push(
    step('format', 'node_modules/prettier/bin/prettier.cjs', [
      '--check',
      '--ignore-unknown',
      ...files,
    ]),
  );
}
if (tests.length > 0) {
  steps.push(
    step('tests', 'node_modules/vitest/vitest.mjs', [
      'run',
      '--reporter=dot',
      '--project=!built',
      ...tests,
    ]),
  );
}
if ((await Promise.all(steps)).includes(false)) process.exitCode = 1;
