import { runInNewContext } from 'node:vm';
import { describe, expect, it } from 'vitest';
import { describeCause, HandlerError, hostError, toError } from '../src/host-error.js';
import { WebhookError } from '../src/index.js';

const tagged = Object.assign(new Error('no'), { [Symbol.toStringTag]: 'DatabaseError' });

describe('what a handler threw', () => {
  it.each([new Error('no'), tagged, new WebhookError('unknown_order'), runInNewContext('new RangeError("no")') as unknown])(
    'stays as it is where it is an Error: %s',
    (thrown) => {
      expect(toError(thrown)).toBe(thrown);
    },
  );

  it('stays as it is where it is a WebhookError that lost its class on its way', () => {
    const error = Object.create(WebhookError.prototype, {
      code: { value: 'unknown_order' },
      status: { value: 503 },
      [Symbol.toStringTag]: { value: 'Object' },
    }) as unknown;
    expect(toError(error)).toBe(error);
  });

  it.each(['no', undefined, null, 7, { message: 'no' }])('is the cause of an Error where it is none: %o', (thrown) => {
    const error = toError(thrown) as HandlerError;
    expect(error).toBeInstanceOf(HandlerError);
    expect(error).toMatchObject({ name: 'HandlerError', message: 'the handler threw something that is not an Error' });
    expect(error.cause).toBe(thrown);
  });
});

describe('the error for a host', () => {
  // Of Express, Koa, Fastify, Nest, h3, http-errors, Boom, superagent, axios, Hono, Elysia and Next.js.
  it.each([
    ...['status', 'statusCode', 'statusText', 'statusMessage', 'headers', 'expose', 'body', 'reply'],
    ...['output', 'response', 'getResponse', 'getStatus', 'res', 'toResponse', 'digest'],
  ])('does not let `%s` of a handler’s error word the reply', (field) => {
    const cause = Object.assign(new Error('no'), { [field]: undefined });
    const error = hostError(cause);
    expect(error).toBeInstanceOf(HandlerError);
    expect(error).toMatchObject({ status: 500, statusCode: 500, expose: false, message: 'the webhook handler failed' });
    expect((error as Error).cause).toBe(cause);
  });

  it('does not let Koa take a missing file for a missing page, nor write to an error that cannot be written to', () => {
    const missing = Object.assign(new Error('no'), { code: 'ENOENT' });
    const frozen = Object.preventExtensions(new Error('no'));
    for (const cause of [missing, frozen]) expect((hostError(cause) as Error).cause).toBe(cause);
  });

  it('is the handler’s own where it words nothing', () => {
    for (const error of [new Error('no'), Object.assign(new Error('no'), { code: 'EPIPE', query: 'UPDATE' })])
      expect(hostError(error)).toBe(error);
    const wrapped = new HandlerError('the handler threw something that is not an Error', 7);
    expect(hostError(wrapped)).toBe(wrapped);
  });

  it.each(['message', 'stack', 'cause', 'toString', 'query'])('is without a cause where reading its `%s` throws', (field) => {
    const cause = new Error('no');
    const get = (): never => {
      throw new Error('read');
    };
    Object.defineProperty(cause, field, { get, enumerable: field === 'query' });
    const error = hostError(cause) as HandlerError;
    expect(error).toBeInstanceOf(HandlerError);
    expect(error.cause).toBeUndefined();
    expect(error.message).toBe('the webhook handler threw an error that cannot be read');
  });
});

describe('the line of the log', () => {
  it.each([
    ['its message, where it has no cause', undefined, 'failed'],
    ['its cause in one line', new Error('two\n  lines'), 'Error: two lines'],
    ['its message, where the cause has no text', Object.create(null), 'failed'],
  ])('of an error for a host has %s', (_, cause, line) => {
    expect(describeCause(new HandlerError('failed', cause))).toBe(line);
  });
});
