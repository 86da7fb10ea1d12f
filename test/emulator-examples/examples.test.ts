import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { bundleScript } from '../servers/bundle.js';

const read = (path: string): string => readFileSync(new URL(path, import.meta.url), 'utf8');

describe('the test examples of the emulator', () => {
  it('pass under node:test', async () => {
    const { path, remove } = await bundleScript(new URL('checkout.node-test.ts', import.meta.url));
    const env: NodeJS.ProcessEnv = { ...process.env };
    // A node:test that runs this file sets the variable, and the child would report to it.
    delete env['NODE_TEST_CONTEXT'];
    const options = ['--test', '--test-reporter=tap', path];
    const { stdout } = await promisify(execFile)(process.execPath, options, { env });
    await remove();
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
