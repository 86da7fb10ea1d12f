import { afterEach, expect, it, vi } from 'vitest';
import { isProduction } from '../src/environment.js';

afterEach(() => {
  vi.unstubAllEnvs();
  vi.unstubAllGlobals();
});

it.each([
  ['production', true],
  ['development', false],
  ['test', false],
  [undefined, false],
])('NODE_ENV %s means production: %s', (value, expected) => {
  vi.stubEnv('NODE_ENV', value);
  expect(isProduction()).toBe(expected);
});

it('a runtime without `process` counts as production', () => {
  vi.stubGlobal('process', undefined);
  const found = isProduction();
  vi.unstubAllGlobals();
  expect(found).toBe(true);
});

it(
  'a test environment without TextDecoder gets a sentence that names the fix',
  { tags: 'P20' },
  async () => {
    vi.stubGlobal('TextDecoder', undefined);
    vi.stubGlobal('TextEncoder', undefined);
    vi.resetModules();
    await expect(import('../src/hmac.browser.js')).rejects.toThrow(
      'set the test environment of the file to node',
    );
    await import('../src/bytes.js');
  },
);
