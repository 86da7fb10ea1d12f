import { inspect } from 'node:util';
import { describe, expect, it, vi } from 'vitest';
import { readRefusal } from '../src/errors.js';
import { ConfigurationError, isWebhookError, WebhookError } from '../src/index.js';
import { errorReply } from '../src/reply.js';

describe('WebhookError', () => {
  it('has the status of a Paylink code, or the given status, message and cause', () => {
    const error = new WebhookError('orders_unavailable');
    const [code, status] = ['orders_unavailable', 503];
    const fields = { name: 'WebhookError', code, status, message: code };
    expect(error).toMatchObject(fields);
    expect(error).not.toHaveProperty('cause');
    expect(inspect(error)).toMatch(/^WebhookError: orders_unavailable/);
    const given = { status: 404, message: 'no such order', cause: 1 };
    expect(new WebhookError('unknown_order', given)).toMatchObject(given);
  });

  it.each([200, 204, 302, 399, 600, 500.5, '503', Number.NaN])(
    'refuses the status %j, which would acknowledge the delivery',
    (status) => {
      const make = () => new WebhookError('mine', { status: status as number });
      expect(make).toThrow(ConfigurationError);
      expect(make).toThrow('status must be 400 to 599');
    },
  );

  it.each([400, 599])('takes the status %i', (status) => {
    expect(new WebhookError('mine', { status }).status).toBe(status);
  });

  it.each([
    ['body_too_large', 'the body is larger than bodyLimit'],
    ['body_timeout', 'the body took longer than bodyTimeout'],
    ['incomplete_body', 'the sender disconnected before the body was complete'],
  ])('has a sentence for %s, which every adapter finds', (code, message) => {
    expect(new WebhookError(code).message).toBe(message);
  });

  it.each([-1, Number.NaN, Infinity, '5'])('refuses %j as retryAfter', (retryAfter) => {
    const make = () => new WebhookError('mine', { retryAfter: retryAfter as number });
    expect(make).toThrow('retryAfter must be milliseconds, 0 or more');
  });

  it('has an own retryAfter only if one was given', () => {
    expect(new WebhookError('mine', { retryAfter: 0 }).retryAfter).toBe(0);
    expect(new WebhookError('mine')).not.toHaveProperty('retryAfter');
  });

  it.each(['a', '_', 'order_2', 'x'.repeat(64)])('takes the code %j', (code) => {
    expect(new WebhookError(code).code).toBe(code);
  });

  it.each(['', 'a b', 'A', 'a"b', 'x'.repeat(65), 7])(
    'refuses the code %j, which is sent',
    (code) => {
      expect(() => new WebhookError(code as string)).toThrow(
        'code must be 1 to 64 of a-z, 0-9 and _',
      );
    },
  );
});

describe('isWebhookError', () => {
  it('knows an error of another copy of this package', async () => {
    vi.resetModules();
    const other = await import('../src/index.js');
    const error = new other.WebhookError('orders_unavailable');
    expect(error).not.toBeInstanceOf(WebhookError);
    expect(isWebhookError(error)).toBe(true);
  });

  it.each([Number.NaN, -1, Infinity, '5', null, undefined])(
    'ignores a retryAfter of %j that code wrote into an error of another copy',
    (retryAfter) => {
      const error = Object.assign(new WebhookError('orders_unavailable'), { retryAfter });
      const refusal = readRefusal(error)!;
      expect(refusal).toEqual({ code: 'orders_unavailable', status: 503, retryAfter: undefined });
      expect(errorReply(refusal).headers).toHaveProperty('retry-after', '5');
    },
  );

  const lookalikes = [{}, new Error('no'), { code: 'orders_unavailable', status: 503 }];
  it.each([undefined, null, 1, 'orders_unavailable', ...lookalikes])(
    'returns false for %o',
    (value) => {
      expect(isWebhookError(value)).toBe(false);
    },
  );

  it('returns false for a Proxy that throws', () => {
    const get = (): never => {
      throw new Error('no');
    };
    expect(isWebhookError(new Proxy(new WebhookError('orders_unavailable'), { get }))).toBe(false);
  });

  it.each([
    ['a status that acknowledges', { status: 200 }],
    ['a code that breaks the reply', { code: 'a"b' }],
    ['a code that is a list', { code: ['orders_unavailable'] }],
  ])('returns false for an error that was given %s', (_what, changed) => {
    expect(isWebhookError(Object.assign(new WebhookError('orders_unavailable'), changed))).toBe(
      false,
    );
  });
});
