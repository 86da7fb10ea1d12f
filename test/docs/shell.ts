/** Runs the pages' shell lines unchanged. `npx paylink` runs the command's sources. */
import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { COMMAND } from '../../packages/cli/test/paylink.js';

// npx takes its own flags, then the package's name.
const PAST_PACKAGE = 'while [ "${1#-}" != "$1" ]; do shift; done; shift';

/** Runs a line to its end, on a shop in the page's place. */
export async function run(
  line: string,
  url: string,
  folder: string,
  env: Readonly<Record<string, string>> = {},
): Promise<{ code: number | null; output: string }> {
  const runs = `exec "${process.execPath}" "${COMMAND}" "$@"\n`;
  writeFileSync(join(folder, 'npx'), `#!/bin/sh\n${PAST_PACKAGE}\n${runs}`, { mode: 0o755 });
  writeFileSync(join(folder, 'paylink'), `#!/bin/sh\n${runs}`, { mode: 0o755 });
  const command = line.replace(
    /https?:\/\/(?:(?:your-)?shop\.example|localhost:3000)\/webhooks\/payments/,
    url,
  );
  const path = [folder, dirname(process.execPath), process.env['PATH']].join(delimiter);
  // One pipe for both outputs keeps their order, as in a terminal.
  const args = ['-euo', 'pipefail', '-c', `exec 2>&1\n${command}`];
  return promisify(execFile)('bash', args, {
    cwd: folder,
    timeout: 60_000,
    env: { PATH: path, ...env } as unknown as NodeJS.ProcessEnv,
  }).then(
    ({ stdout }) => ({ code: 0, output: stdout }),
    (error: unknown) => {
      const { code, stdout } = error as { readonly code: number | null; readonly stdout: string };
      return { code, output: stdout };
    },
  );
}
