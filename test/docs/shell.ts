/** Runs the pages' shell lines unchanged. `npx paylink` runs the command's sources. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { onTestFinished } from 'vitest';
import { COMMAND } from '../../packages/cli/test/paylink.js';

// npx takes its own flags, then the package's name.
const PAST_PACKAGE = 'while [ "${1#-}" != "$1" ]; do shift; done; shift';

/** Starts a line on a shop in the page's place. */
export function start(
  line: string,
  url: string,
  folder: string,
  env: Readonly<Record<string, string>> = {},
) {
  const runs = `exec "${process.execPath}" "${COMMAND}" "$@"\n`;
  writeFileSync(join(folder, 'npx'), `#!/bin/sh\n${PAST_PACKAGE}\n${runs}`, { mode: 0o755 });
  writeFileSync(join(folder, 'paylink'), `#!/bin/sh\n${runs}`, { mode: 0o755 });
  const command = line.replace(
    /https?:\/\/(?:(?:your-)?shop\.example|localhost:3000)\/webhooks\/payments/,
    url,
  );
  const path = [folder, dirname(process.execPath), process.env['PATH']].join(delimiter);
  // A process group, so that the command ends with the shell. One pipe for both outputs, as in a
  // terminal, keeps their order.
  const child = spawn('bash', ['-euo', 'pipefail', '-c', `exec 2>&1\n${command}`], {
    cwd: folder,
    detached: true,
    stdio: ['ignore', 'pipe', 'ignore'],
    env: { PATH: path, ...env } as unknown as NodeJS.ProcessEnv,
  });
  let output = '';
  child.stdout.on('data', (piece: Buffer) => (output += piece.toString()));
  const closed = once(child, 'close').then(([code]) => code as number | null);
  onTestFinished(() => {
    if (child.exitCode === null && child.signalCode === null) process.kill(-child.pid!, 'SIGKILL');
  });
  return {
    output: () => output,
    closed,
    async until(pattern: RegExp): Promise<RegExpExecArray> {
      for (;;) {
        const match = pattern.exec(output);
        if (match !== null) return match;
        const next = await Promise.race([once(child.stdout, 'data'), closed.then(() => 'closed')]);
        if (next === 'closed' && !pattern.test(output))
          throw new Error(`it ended without ${pattern}: ${output}`);
      }
    },
    end: () => process.kill(-child.pid!, 'SIGTERM'),
  };
}

/** Runs a line to its end. */
export async function run(
  ...args: Parameters<typeof start>
): Promise<{ code: number | null; output: string }> {
  const running = start(...args);
  const code = await running.closed;
  return { code, output: running.output() };
}
