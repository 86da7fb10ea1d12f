/**
 * Prepares a checkout: installs the dependencies and builds the packages. Only Node and npm exist
 * yet. An old Node must be able to parse this file, so that it prints a sentence instead of an
 * error.
 */
import { spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';

export const ROOT = dirname(dirname(fileURLToPath(import.meta.url)));

const read = (path) => readFileSync(`${ROOT}/${path}`, 'utf8');

const { packageManager, engines } = JSON.parse(read('package.json'));

export const PNPM = packageManager;

const [major, minor] = process.versions.node.split('.').map(Number);
const [leastMajor, leastMinor] = engines.node.match(/\d+/g).map(Number);
if (major < leastMajor || (major === leastMajor && minor < leastMinor)) {
  console.error(
    `Paylink needs Node ${leastMajor}.${leastMinor} or later. This is ${process.version}. ` +
      'Get one at https://nodejs.org',
  );
  process.exit(1);
}

/** Installs the lockfile's packages: all of them, or the needs of `names`. */
export async function install(names) {
  if (names === undefined && isInstalled()) return;
  const filters = names?.map((name) => `--filter=${name}`) ?? [];
  const root = names === undefined ? [] : ['--filter=paylink'];
  await announce('Installing', ['install', '--frozen-lockfile', ...root, ...filters]);
}

/** pnpm takes seconds to find this out. It keeps a copy of the installed lockfile. */
function isInstalled() {
  const copy = 'node_modules/.pnpm/lock.yaml';
  return existsSync(`${ROOT}/${copy}`) && read(copy) === read('pnpm-lock.yaml');
}

/** Builds every package, or these. */
export function build(names) {
  const filters = names?.map((name) => `--filter=${name}`) ?? [
    '--recursive',
    '--filter=./packages/*',
  ];
  return announce('Building', [...filters, 'run', 'build']);
}

/** Runs pnpm in the checkout's root. Prints its output only on failure. @throws Error on failure */
export async function pnpm(args, onOutput = () => undefined) {
  const shell = process.platform === 'win32';
  const env = { ...process.env, CI: 'true', npm_config_update_notifier: 'false' };
  const output = [];
  const code = await run(
    'npx',
    ['-y', PNPM, ...args],
    { shell, env, stdio: ['ignore', 'pipe', 'pipe'] },
    (chunk) => {
      output.push(chunk);
      onOutput(chunk.toString());
    },
  );
  if (code !== 0)
    throw new Error(
      `${Buffer.concat(output).toString('utf8').trimEnd()}\n\npnpm ${args.join(' ')} ` +
        `ended with ${code}`,
    );
}

/**
 * Runs a program in the root of the checkout, passes signals on to it, and resolves with its exit
 * code.
 *
 * @param {string} command
 * @param {readonly string[]} args
 * @param {import('node:child_process').SpawnOptions} options
 * @param {(piece: Buffer) => void} [onOutput]
 * @returns {Promise<number>}
 */
export function run(command, args, options = {}, onOutput) {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { cwd: ROOT, stdio: 'inherit', ...options });
    for (const stream of [child.stdout, child.stderr]) stream?.on('data', onOutput);
    const pass = (signal) => child.kill(signal);
    // A terminal sends Ctrl-C to the child too. Without a listener, this process would end first.
    const onInterrupt = process.stdin.isTTY ? () => undefined : pass;
    process.on('SIGINT', onInterrupt).on('SIGTERM', pass);
    child.once('error', reject);
    child.once('close', (code) => {
      process.off('SIGINT', onInterrupt).off('SIGTERM', pass);
      resolve(code ?? 1);
    });
  });
}

async function announce(name, args) {
  const started = performance.now();
  process.stdout.write(`${name}… `);
  try {
    await pnpm(args, (text) => {
      for (const [, built] of text.matchAll(/^packages\/(\S+) build: Done$/gm))
        process.stdout.write(`${built} `);
    });
  } catch (error) {
    process.stdout.write('failed\n');
    throw error;
  }
  process.stdout.write(`${((performance.now() - started) / 1000).toFixed(1)} s\n`);
}
