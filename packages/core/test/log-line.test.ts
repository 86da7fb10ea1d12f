import { expect, it } from 'vitest';
import { logLine } from '../src/log-line.js';

it('ends with where the code is explained, whether or not the message is a sentence', () => {
  const line = '[paylink] 500 body_consumed: the body was read before. See docs/errors.md#body_consumed';
  expect(logLine(500, 'body_consumed', 'the body was read before')).toBe(line);
  expect(logLine(500, 'body_consumed', 'the body was read before.')).toBe(line);
});
