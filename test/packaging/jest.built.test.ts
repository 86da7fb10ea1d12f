import { execFile } from 'node:child_process';
import { copyFileSync, mkdtempSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';

const example = fileURLToPath(new URL('../../examples/jest/', import.meta.url));
const jest = createRequire(`${example}package.json`).resolve('jest/bin/jest');

interface Outcome {
  readonly numPassedTests: number;
  readonly numFailedTests: number;
}

/** Runs the example on the built packages. */
async function runJest(...args: string[]): Promise<Outcome> {
  const options = {
    cwd: example,
    env: { PATH: process.env['PATH'] } as unknown as NodeJS.ProcessEnv,
  };
  const folder = mkdtempSync(join(tmpdir(), 'paylink-jest-'));
  try {
    const flags = ['--json', '--no-cache', '--cacheDirectory', folder];
    const { stdout } = await promisify(execFile)(
      process.execPath,
      [jest, ...flags, ...args],
      options,
    );
    return JSON.parse(stdout) as Outcome;
  } finally {
    rmSync(folder, { recursive: true });
  }
}

it('the jest example passes and exits on its own', async () => {
  // Without --forceExit, an open handle would keep jest from ending.
  expect(await runJest('--runInBand')).toMatchObject({ numPassedTests: 1, numFailedTests: 0 });
}, 60_000);

it('the jest example passes in two workers, each with its own emulator', async () => {
  const copy = `${example}test/copy-${process.pid}.test.cjs`;
  copyFileSync(`${example}test/checkout.test.cjs`, copy);
  try {
    expect(await runJest('--maxWorkers=2')).toMatchObject({ numPassedTests: 2, numFailedTests: 0 });
  } finally {
    rmSync(copy);
  }
}, 60_000);
