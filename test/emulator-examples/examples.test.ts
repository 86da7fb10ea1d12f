import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { ON_SOURCES } from '../../scripts/source.mjs';

const read = (path: string): string => readFileSync(new URL(path, import.meta.url), 'utf8');

describe('the test examples of the emulator', () => {
  it('pass under node:test', async () => {
    const file = fileURLToPath(new URL('checkout.node-test.ts', import.meta.url));
    const env: NodeJS.ProcessEnv = { ...process.env };
    // A node:test that runs this file sets the variable, and the child would report to it.
    delete env['NODE_TEST_CONTEXT'];
    const { stdout } = await promisify(execFile)(
      process.execPath,
      [...ON_SOURCES, '--test', '--test-reporter=tap', file],
      {
        env,
      },
    );
    expect(stdout).toMatch(/^# pass 1$/m);
    expect(stdout).toMatch(/^# fail 0$/m);
  }, 60_000);

  it('need no sleep and match the README', () => {
    const readme = read('../../packages/emulator/README.md');
    // test/packaging/jest.built.test.ts runs the jest example on built packages.
    for (const file of [
      'checkout.test.ts',
      'checkout.node-test.ts',
      '../../examples/jest/test/checkout.test.cjs',
    ]) {
      const code = read(file);
      expect(readme).toContain(`\`\`\`${file.endsWith('.ts') ? 'ts' : 'js'}\n${code}\`\`\``);
      expect(code).not.toMatch(/setTimeout|sleep|waitUntil|poll/);
    }
  });
});
