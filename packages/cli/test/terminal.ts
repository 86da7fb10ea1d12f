/**
 * Runs the command in a pseudo-terminal, as a person does. Python's standard library provides one.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { onTestFinished } from 'vitest';
import { COMMAND, SECRET } from './paylink.js';

export interface Keys {
  /** The keys are typed after this text appears. */
  readonly after: RegExp;
  /** Runs before the keys are typed. */
  readonly meanwhile?: (match: RegExpExecArray) => Promise<unknown>;
  readonly send: string;
}

const RELAY = `
import os, pty, sys, select
pid, fd = pty.fork()
if pid == 0:
    os.execv(sys.argv[1], sys.argv[1:])
while True:
    ready, _, _ = select.select([fd, 0], [], [])
    if fd in ready:
        try:
            data = os.read(fd, 65536)
        except OSError:
            break
        if not data:
            break
        os.write(1, data)
    if 0 in ready:
        data = os.read(0, 65536)
        if data:
            os.write(fd, data)
_, status = os.waitpid(pid, 0)
sys.exit(os.waitstatus_to_exitcode(status))
`;

export async function inTerminal(
  args: readonly string[],
  env: Readonly<Record<string, string>>,
  keys: readonly Keys[],
  cwd = process.cwd(),
): Promise<{ code: number | null; output: string }> {
  const environment: Record<string, string | undefined> = {
    PATH: process.env['PATH'],
    TERM: 'xterm',
    ...env,
  };
  const child = spawn('python3', ['-c', RELAY, process.execPath, COMMAND, ...args], {
    env: environment as NodeJS.ProcessEnv,
    cwd,
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  let output = '';
  const waiting = [...keys];
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
    output += chunk;
    type();
  });
  let failed: Error | undefined;
  let isTyping = false;
  function type(): void {
    const match = waiting[0]?.after.exec(output);
    if (isTyping || match === null || match === undefined) return;
    const { meanwhile, send } = waiting.shift()!;
    isTyping = true;
    const typed = async (): Promise<void> => {
      await meanwhile?.(match);
      child.stdin.write(send);
      isTyping = false;
      type();
    };
    typed().catch((error: unknown) => {
      failed = error as Error;
      child.kill('SIGKILL');
    });
  }
  const [code] = (await once(child, 'close')) as [number | null];
  if (failed !== undefined) throw failed;
  if (output.includes(SECRET)) throw new Error('a secret was printed');
  return { code, output };
}
