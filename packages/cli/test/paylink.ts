/** Runs the command as a user does: in its own process, with pipes for its output. */
import { spawn, type ChildProcessWithoutNullStreams } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';

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

/** Runs the command to its end. @throws Error if the output holds a secret of the tests */
export async function paylink(
  args: readonly string[],
  { env = {}, stdin = '', cwd }: RunOptions = {},
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

export interface Running {
  readonly child: ChildProcessWithoutNullStreams;
  /** The folder for temporary files. */
  readonly folder: string;
  /** The command's current folder. */
  readonly cwd: string;
  /** Returns the present stdout. */
  stdout(): string;
  /** Resolves with the first match in stdout. @throws Error if the command ends first */
  until(pattern: RegExp): Promise<RegExpExecArray>;
  result(): Promise<Result>;
}

/** Returns an empty folder, because a command may write to the current folder. */
export function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'paylink-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** Starts the command, and ends it with the test. */
export function start(
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
  cwd: string = newFolder(),
): Running {
  // Hides the tests' own environment.
  const folder = env['TMPDIR'] ?? newFolder();
  const environment: Record<string, string | undefined> = {
    PATH: process.env['PATH'],
    TMPDIR: folder,
    ...env,
  };
  const child = spawn(process.execPath, [COMMAND, ...args], {
    env: environment as NodeJS.ProcessEnv,
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
    folder,
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
    async result() {
      const code = await closed;
      for (const secret of [SECRET, API_KEY]) {
        if (`${stdout}${stderr}`.includes(secret)) throw new Error('a secret was printed');
      }
      return { code, stdout, stderr };
    },
  };
}
