/** Runs the command: in this process, or as a user does. */
import { spawn, type ChildProcessWithoutNullStreams } from 'node:child_process';
import { Console } from 'node:console';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { Readable } from 'node:stream';
import { expect, onTestFinished, vi } from 'vitest';

/** The bundled sources, which start in a third of the time. `built` tests run the build. */
export const COMMAND = process.env['PAYLINK_COMMAND']!;

/** A secret that must not appear in any output. */
export const SECRET = 'the-portals-value-2b7e151628aed2a6';
export const API_KEY = 'sk_live_4f1c2a.abf7158809cf4f3c762e7160f38b4da5';

export interface Result {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface RunOptions {
  readonly env?: Readonly<Record<string, string>>;
  readonly stdin?: string | Uint8Array;
  /** Default: an empty folder. */
  readonly cwd?: string;
}

/** A running command. */
export interface Running {
  /** The command's current folder. */
  readonly cwd: string;
  /** Returns the present stdout. */
  stdout(): string;
  /** Resolves with the first match in stdout. @throws Error if none comes */
  until(pattern: RegExp): Promise<RegExpExecArray>;
  /** Ends the command as Ctrl-C does, or with another signal. */
  stop(signal?: Signal): Promise<Result>;
  /** Resolves at the end. @throws Error if the output holds a secret of the tests */
  result(): Promise<Result>;
}

const SIGNALS = ['SIGINT', 'SIGTERM'] as const;
type Signal = (typeof SIGNALS)[number];

/** Runs the command to its end in this process. */
export async function paylink(args: readonly string[], options?: RunOptions): Promise<Result> {
  return (await startHere(args, options)).result();
}

/**
 * Starts the command in this process, because a process starts slowly. One command runs at a time,
 * and ends with the test.
 */
export async function startHere(
  args: readonly string[],
  { env = {}, stdin = '', cwd = newFolder() }: RunOptions = {},
): Promise<Running> {
  const { run } = (await import(
    join(dirname(COMMAND), 'program.mjs')
  )) as typeof import('../src/program.js');
  const { env: environment, exitCode } = process;
  const folder = process.cwd();
  const known = SIGNALS.flatMap((name) => process.listeners(name));
  const listenersOf = (name: Signal) =>
    process.listeners(name).filter((listener) => !known.includes(listener));
  const stdout = capture(process.stdout);
  const stderr = capture(process.stderr);
  const spies = [
    ...[stdout.spy, stderr.spy],
    vi.spyOn(process, 'stdin', 'get').mockReturnValue(Readable.from([stdin]) as never),
    vi.spyOn(process, 'exit').mockReturnValue(undefined as never),
    // Vitest's own console writes elsewhere.
    vi.spyOn(globalThis, 'console', 'get').mockReturnValue(new Console(process)),
  ];
  process.env = environmentOf(env);
  process.chdir(cwd);
  process.exitCode = undefined;
  const ended = async (): Promise<Result> => {
    try {
      await run(args);
      // A command with a merchant's module exits in the next turn.
      await new Promise(setImmediate);
      const { exitCode: code = 0 } = process as { readonly exitCode?: number };
      return withoutSecret({ code, stdout: stdout.text(), stderr: stderr.text() });
    } finally {
      for (const name of SIGNALS)
        for (const listener of listenersOf(name)) process.off(name, listener);
      for (const spy of spies) spy.mockRestore();
      process.env = environment;
      process.chdir(folder);
      process.exitCode = exitCode;
    }
  };
  const result = ended();
  const stop = (signal: Signal = 'SIGINT'): Promise<Result> => {
    for (const listener of listenersOf(signal)) listener(signal);
    return result;
  };
  onTestFinished(async () => void (await stop().catch(() => undefined)));
  return {
    cwd,
    stdout: stdout.text,
    async until(pattern) {
      await expect.poll(stdout.text, { interval: 10 }).toMatch(pattern);
      return pattern.exec(stdout.text())!;
    },
    stop,
    result: () => result,
  };
}

/** Keeps the output of this process on a stream. */
function capture(stream: NodeJS.WriteStream) {
  let written = '';
  const spy = vi.spyOn(stream, 'write').mockImplementation((chunk, ...rest: unknown[]) => {
    written += String(chunk);
    (rest.at(-1) as (() => void) | undefined)?.();
    return true;
  });
  return { spy, text: () => written };
}

/** Hides the tests' own environment. */
function environmentOf(env: Readonly<Record<string, string>>): NodeJS.ProcessEnv {
  return { PATH: process.env['PATH'], ...env } as unknown as NodeJS.ProcessEnv;
}

function withoutSecret(result: Result): Result {
  for (const secret of [SECRET, API_KEY]) {
    if (`${result.stdout}${result.stderr}`.includes(secret))
      throw new Error('a secret was printed');
  }
  return result;
}

/** Runs the command to its end in its own process, as a user does. */
export async function paylinkProcess(
  args: readonly string[],
  { env, stdin = '', cwd }: RunOptions = {},
): Promise<Result> {
  const running = start(args, env, cwd);
  running.child.stdin.on('error', () => undefined).end(stdin);
  return running.result();
}

/**
 * Splits a command line into words. An inserted text stays in its word, and an inserted list stays
 * a list of words.
 */
export function words(
  fixed: TemplateStringsArray,
  ...values: readonly (string | readonly string[])[]
): string[] {
  const line = String.raw({ raw: fixed }, ...values.map((_, index) => `\0${index}\0`));
  return line
    .trim()
    .split(/\s+/)
    .flatMap((word) => {
      const whole = values[Number(/^\0(\d+)\0$/.exec(word)?.[1] ?? NaN)];
      if (Array.isArray(whole)) return whole as string[];
      return word.replace(/\0(\d+)\0/g, (_, index: string) => String(values[Number(index)]));
    });
}

/** Returns an empty folder, because a command may write to the current folder. */
export function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'paylink-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** Starts the command in its own process, and ends it with the test. */
export function start(
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
  cwd: string = newFolder(),
): Running & { readonly child: ChildProcessWithoutNullStreams } {
  const child = spawn(process.execPath, [COMMAND, ...args], {
    env: environmentOf({ TMPDIR: newFolder(), ...env }),
    cwd,
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  let stdout = '';
  let stderr = '';
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => (stdout += chunk));
  child.stderr.setEncoding('utf8').on('data', (chunk: string) => (stderr += chunk));
  const closed = once(child, 'close').then(([code]) => code as number | null);
  return {
    child,
    cwd,
    stdout: () => stdout,
    async until(pattern) {
      for (;;) {
        const match = pattern.exec(stdout);
        if (match !== null) return match;
        const next = await Promise.race([once(child.stdout, 'data'), closed.then(() => 'closed')]);
        if (next === 'closed' && !pattern.test(stdout))
          throw new Error(`it ended without ${pattern}: ${stdout}${stderr}`);
      }
    },
    stop(signal = 'SIGINT') {
      child.kill(signal);
      return this.result();
    },
    async result() {
      return withoutSecret({ code: await closed, stdout, stderr });
    },
  };
}
