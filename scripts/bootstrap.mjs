/** What a fresh checkout needs before anything can run: pnpm, the dependencies, the builds. Only Node and npm are there yet. */
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const ROOT = dirname(dirname(fileURLToPath(import.meta.url)));

// The one of package.json's `packageManager`; newer majors need a newer Node.
const PNPM = '10.34.9';

/** A command that did not end well. `exitCode` is what to end with oneself. */
export class CommandFailed extends Error {
  constructor(message, exitCode) {
    super(message);
    this.name = 'CommandFailed';
    this.exitCode = exitCode;
  }
}

/** Installs exactly what the lockfile says. Quiet, unless it fails. */
export async function install() {
  await announce('Installing', () => pnpm(['install', '--frozen-lockfile']));
}

/**
 * Builds packages, each after those it stands on. Quiet, unless it fails.
 *
 * @param {string} [filter] which, in pnpm's words; default: every package
 */
export async function build(filter = './packages/*') {
  await announce('Building', () => pnpm(['--filter', filter, 'run', 'build']));
}

/**
 * Runs pnpm in the root of the checkout, without a word unless it fails.
 *
 * @param {string[]} args
 */
export async function pnpm(args) {
  const [command, before, shell] = await findPnpm();
  await runQuietly(command, [...before, ...args], shell);
}

/**
 * Runs a program in the foreground, hands signals on to it, and gives the code that it ended with.
 *
 * @param {string} command
 * @param {string[]} args
 * @param {import('node:child_process').SpawnOptions} [options]
 * @returns {Promise<number>}
 */
export function run(command, args, options = {}) {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { cwd: ROOT, stdio: 'inherit', ...options });
    const stopHandingOn = handOnSignals(child);
    child.once('error', reject);
    child.once('close', (code, signal) => {
      stopHandingOn();
      resolve(code ?? exitCodeOf(signal));
    });
  });
}

async function announce(name, work) {
  const started = performance.now();
  process.stdout.write(`${name}… `);
  try {
    await work();
  } catch (error) {
    process.stdout.write('failed\n');
    throw error;
  }
  process.stdout.write(`${((performance.now() - started) / 1000).toFixed(1)} s\n`);
}

let found;

/** How to run pnpm: the installed one where it is this very version, else npm fetches it. */
async function findPnpm() {
  found ??= (await hasPnpm()) ? ['pnpm', [], isWindows()] : npx();
  return found;
}

function npx() {
  const args = ['-y', `pnpm@${PNPM}`];
  // By its script where npm says where that is: then no shell stands between, on Windows neither.
  const npm = process.env.npm_execpath;
  const script = npm === undefined ? undefined : join(dirname(npm), 'npx-cli.js');
  if (script !== undefined && existsSync(script)) return [process.execPath, [script, ...args], false];
  return ['npx', args, isWindows()];
}

function hasPnpm() {
  return new Promise((resolve) => {
    // Elsewhere than in the checkout: there pnpm would fetch the version of `packageManager` and call itself that.
    const child = spawn('pnpm', ['--version'], {
      cwd: dirname(process.execPath),
      shell: isWindows(),
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    let version = '';
    child.stdout.on('data', (chunk) => {
      version += String(chunk);
    });
    child.once('error', () => resolve(false));
    child.once('close', (code) => resolve(code === 0 && version.trim() === PNPM));
  });
}

function runQuietly(command, args, shell) {
  return new Promise((resolve, reject) => {
    const child = spawn(command, shell ? args.map(quote) : args, {
      cwd: ROOT,
      shell,
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { ...process.env, CI: 'true', npm_config_update_notifier: 'false' },
    });
    const stopHandingOn = handOnSignals(child);
    const output = [];
    child.stdout.on('data', (chunk) => output.push(chunk));
    child.stderr.on('data', (chunk) => output.push(chunk));
    child.once('error', (error) => {
      stopHandingOn();
      reject(new CommandFailed(`${command} could not be started: ${error.message}`, 1));
    });
    child.once('close', (code, signal) => {
      stopHandingOn();
      if (code === 0) return resolve();
      const said = Buffer.concat(output).toString('utf8').trimEnd();
      const ended = signal === null ? `ended with ${code}` : `was stopped by ${signal}`;
      reject(new CommandFailed(`${said}\n\n${[command, ...args].join(' ')} ${ended}`, code ?? exitCodeOf(signal)));
    });
  });
}

function handOnSignals(child) {
  const handOn = (signal) => child.kill(signal);
  // A terminal sends Ctrl-C to the child as well; without a listener of our own we would be gone before it.
  const ignore = () => undefined;
  const onInterrupt = process.stdin.isTTY ? ignore : handOn;
  process.on('SIGINT', onInterrupt).on('SIGTERM', handOn).on('SIGHUP', handOn);
  const watch = watchNpm(() => handOn('SIGTERM'));
  return () => {
    clearInterval(watch);
    process.off('SIGINT', onInterrupt).off('SIGTERM', handOn).off('SIGHUP', handOn);
  };
}

/** A signal to npm ends the shell that npm put between itself and us, and many shells hand nothing on: then we are orphans. */
function watchNpm(onGone) {
  if (process.env.npm_lifecycle_event === undefined || isWindows()) return undefined;
  const parent = process.ppid;
  const watch = setInterval(() => {
    if (process.ppid === parent) return;
    clearInterval(watch);
    onGone();
  }, 250);
  return watch.unref();
}

function exitCodeOf(signal) {
  return { SIGHUP: 129, SIGINT: 130, SIGTERM: 143 }[signal] ?? 1;
}

function isWindows() {
  return process.platform === 'win32';
}

/** For cmd.exe, which takes a bare ^ for its own. */
function quote(arg) {
  return /^[\w@./=:-]+$/.test(arg) ? arg : `"${arg}"`;
}
