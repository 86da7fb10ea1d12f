import { runInNewContext } from 'node:vm';
import { describe, expect, it } from 'vitest';
import { WebhookError } from '../src/errors.js';
import { failureOf } from '../src/failure.js';

describe('what a handler returned', () => {
  it.each([
    ['an Error', new Error('no such order')],
    ['an error of its own class', new (class extends Error {})('no such order')],
    ['a WebhookError', new WebhookError('unknown_order', { status: 503 })],
    ['an Error of another realm', runInNewContext('new Error("no such order")') as Error],
  ])('is a failure where it is %s, as if it were thrown', (_what, error) => {
    expect(failureOf(error)).toBe(error);
  });

  it.each([302, 404, 500])('is a failure where it is a Response of status %i', (status) => {
    expect(failureOf(new Response(null, { status }))).toEqual(
      expect.objectContaining({ message: expect.stringContaining(String(status)) as string }),
    );
  });

  it.each([[undefined], [null], [''], [false], [{ status: 503, ok: false }], [new Response(null, { status: 204 })]])(
    'is none: %j',
    (value) => {
      expect(failureOf(value)).toBeUndefined();
    },
  );
});
