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
