/**
 * `pnpm check`: checks all types, and lints, formats and tests the change since main. Runs the
 * tests of the changed packages, nearest first (test/changed-first.ts).
 */
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ROOT, run } from './bootstrap.mjs';

const git = (...args) =>
  execFileSync('git', args, { cwd: ROOT, stdio: ['ignore', 'pipe', 'ignore'] })
    .toString()
    .trim();

/** Returns the commit at which this branch left main, or the last commit without a main. */
function base() {
  for (const main of ['main', 'origin/main']) {
    try {
      return git('merge-base', main, 'HEAD');
    } catch {
      // This checkout lacks that branch.
    }
  }
  return 'HEAD';
}

/**
 * Lists the files that changed since main, as paths in the repository. Sources without git have
 * none.
 *
 * @returns {string[]}
 */
export function changedFiles() {
  if (!existsSync(join(ROOT, '.git'))) return [];
  const changed = git('diff', '--name-only', '--diff-filter=d', base()).split('\n');
  const untracked = git('ls-files', '--others', '--exclude-standard').split('\n');
  return [...new Set([...changed, ...untracked])].filter(
    (path) => path !== '' && existsSync(join(ROOT, path)),
  );
}

/**
 * Imports do not show the tests of a file, because a package's tests start processes and servers.
 */
function testsOf(files) {
  const folders = files.map(
    (path) =>
      /^(?:packages|examples)\/[^/]+\//.exec(path)?.[0] ??
      /^test\/(?!site\/built\/).*\.test\.ts$/.exec(path)?.[0],
  );
  const repository = files.some((path) =>
    /^(scripts\/|[^/]+$|packages\/[^/]+\/package\.json$)/.test(path),
  );
  const found = [...folders, repository ? 'test/repository/' : undefined];
  return [...new Set(found)].filter((filter) => filter !== undefined);
}

/** The first words of the names of an adapter's hosts, in the suites of test/adapters. */
export const HOSTS = {
  ...{
    node: 'node:http',
    fetch: 'fetch',
    express: 'express 5',
    fastify: 'fastify 5',
    koa: 'koa 3',
  },
  ...{ hono: 'hono', next: 'next', nest: 'nestjs', lambda: 'aws' },
};
const SUITES = ['attack-kit', 'body', 'handler', 'misuse', 'signature'];
const WITHOUT_HTTP2 = [HOSTS.express, HOSTS.nest, HOSTS.lambda];

/**
 * Returns the suites of these hosts. A Lambda function gets the whole body: it has no transport.
 *
 * @param {readonly string[]} hosts
 */
export function suitesOf(hosts) {
  const transport = hosts.some((host) => host !== HOSTS.lambda) ? ['transport'] : [];
  const http2 = hosts.some((host) => !WITHOUT_HTTP2.includes(host)) ? ['http2'] : [];
  return [...SUITES, ...transport, ...http2].map((suite) => `test/adapters/${suite}.test.ts`);
}

/** Returns the hosts of the changed adapters. */
function hostsOf(files) {
  const names = files.map((path) => /^packages\/([^/]+)\/src\//.exec(path)?.[1]);
  return [...new Set(names)].map((name) => HOSTS[name]).filter((host) => host !== undefined);
}

/** The projects of vitest.config.ts. Core runs on WebCrypto only if the change concerns it. */
function projectsFor(files) {
  const core = files.some((path) => path.endsWith('.web.ts')) ? 'core on *' : 'core on node:crypto';
  return [core, 'together', 'adapters', 'alone'].map((name) => `--project=${name}`);
}

async function step(name, command, args, { onOutput, env } = {}) {
  const started = performance.now();
  const output = [];
  const code = await run(
    command,
    args,
    {
      stdio: ['ignore', 'pipe', 'pipe'],
      shell: args.length === 0,
      env: { ...process.env, PAYLINK_TESTS: 'short', ...env },
    },
    onOutput ?? ((text) => output.push(text)),
  );
  if (code !== 0) process.stdout.write(Buffer.concat(output));
  const seconds = ((performance.now() - started) / 1000).toFixed(1);
  console.log(`${code === 0 ? 'ok    ' : 'FAILED'} ${name}, ${seconds} s`);
  return code === 0;
}

const tool = (name, path, args, options) =>
  step(name, process.execPath, [join(ROOT, 'node_modules', path), ...args], options);
const onOutput = (text) => process.stdout.write(text);

async function check() {
  const files = changedFiles();
  const code = files.filter((path) => /\.([cm]?js|tsx?)$/.test(path));
  const tests = testsOf(files);
  console.log(`${files.length} files changed; tests of ${tests.join(', ') || 'no package'}`);

  const { scripts } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
  const steps = [step('types', scripts.types, [])];
  if (code.length > 0) {
    steps.push(tool('lint', 'oxlint/bin/oxlint', ['--deny-warnings', ...code]));
  }
  if (files.length > 0)
    steps.push(
      tool('format', 'oxfmt/bin/oxfmt', ['--check', '--no-error-on-unmatched-pattern', ...files]),
    );
  const vitest = ['run', '--silent=passed-only', '--passWithNoTests'];
  // In parallel, so that the first failure shows early.
  if (tests.length > 0)
    steps.push(
      tool('tests', 'vitest/vitest.mjs', [...vitest, ...projectsFor(files), ...tests], {
        onOutput,
      }),
    );
  const hosts = hostsOf(files);
  if (hosts.length > 0) {
    steps.push(
      tool(`suites of ${hosts.join(', ')}`, 'vitest/vitest.mjs', [...vitest, ...suitesOf(hosts)], {
        onOutput,
        env: { PAYLINK_HOSTS: hosts.join() },
      }),
    );
  }
  return (await Promise.all(steps)).every(Boolean);
}

if (process.argv[1] === fileURLToPath(import.meta.url) && !(await check())) process.exitCode = 1;
