import { afterEach, expect, it, vi } from 'vitest';
import { logLine } from '../src/log-line.js';

afterEach(() => {
  vi.unstubAllGlobals();
});

it('ends with where the code is explained, whether or not the message is a sentence', () => {
  const line = '[paylink] 500 body_consumed: the body was read before. See docs/errors.md#body_consumed';
  expect(logLine(500, 'body_consumed', 'the body was read before')).toBe(line);
  expect(logLine(500, 'body_consumed', 'the body was read before.')).toBe(line);
});

it('keeps the points within a message', () => {
  expect(logLine(503, 'secret_unavailable', 'vault.example is down')).toContain(': vault.example is down. See ');
});

it('names the page that a release was built with', async () => {
  vi.stubGlobal('PAYLINK_ERRORS_PAGE', 'https://docs.example/errors');
  vi.resetModules();
  const built = await import('../src/log-line.js');
  expect(built.logLine(401, 'invalid_signature', 'no')).toBe(
    '[paylink] 401 invalid_signature: no. See https://docs.example/errors#invalid_signature',
  );
});
