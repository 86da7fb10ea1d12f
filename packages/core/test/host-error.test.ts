import { runInNewContext } from 'node:vm';
import { describe, expect, it } from 'vitest';
import { createReceiver, WebhookError } from '../src/index.js';
import { failureOf, hostError } from '../src/internal.js';
import { HandlerError } from '../src/host-error.js';
import { createLog, deliver, secret } from './deliver.js';

const foreign = runInNewContext('new Error("no such order")') as Error;
const timeout = new DOMException('too late', 'TimeoutError');
/** As Prisma's errors have a tag. */
const tagged = Object.assign(new Error('no'), { [Symbol.toStringTag]: 'DatabaseError' });
const withGetter = (field: string, get: () => unknown, error = new Error('mine')): Error =>
  Object.defineProperty(error, field, { get, configurable: true });
const cannotRead = (): never => {
  throw new Error('hostile');
};
/** Valid when it is first read, and a success afterwards. */
const flips = (error: Error): Error => {
  let reads = 0;
  return new Proxy(error, {
    get: (target, name) =>
      name === 'status' ? (reads++ === 0 ? 503 : 200) : (Reflect.get(target, name) as unknown),
  });
};

describe('a returned value', () => {
  it.each([
    new Error('a'),
    new WebhookError('a'),
    new (class extends Error {})('b'),
    foreign,
    timeout,
    tagged,
  ])('means failure if it is an Error: %s', (error) => {
    expect(failureOf(error)).toBe(error);
  });

  // prettier-ignore
  it.each<readonly [string, unknown, string]>([
    ['a Response that is not ok', new Response(null, { status: 302 }), 'a Response of status 302'],
    ['a Response of status 503', new Response(null, { status: 503 }), 'a Response of status 503'],
    ['an own status', { status: 400 }, '{ status: 400 }'],
    ['an own statusCode', { statusCode: 503, body: 'x' }, '{ statusCode: 503 }'],
    ['a function', () => undefined, 'a function'],
    ['a class', Date, 'a function'],
    ['a generator', (function* () {
      yield 1;
    })(), 'a generator'],
    ['an async generator', (async function* () {
      yield 1;
    })(), 'a generator'],
    ['an Observable', { subscribe: () => undefined }, 'an Observable'],
  ])('means failure if it is %s', (_what, value, problem) => {
    expect(failureOf(value)).toBeInstanceOf(Error);
    expect(failureOf(value)!.message).toContain(`the handler returned ${problem}`);
  });

  // prettier-ignore
  it.each<readonly [string, unknown]>([
    ...[undefined, null, '', false, 503, 'error', [], {}].map((value) => [JSON.stringify(value), value] as const),
    ['a Response that is ok', new Response(null, { status: 204 })],
    ['a status under 400', { status: 399, statusCode: 201 }],
    ['a status that is not a number', { status: 'failed' }],
    ['an inherited status', Object.create({ status: 503 })],
    ['a status behind a getter', { get status() { return 503; } }],
  ])('means success if it is %s', (_what, value) => {
    expect(failureOf(value)).toBeUndefined();
  });
});

describe('a thrown error', () => {
  it.each([
    new Error('a'),
    foreign,
    new WebhookError('a'),
    new AggregateError([]),
    Object.assign(new Error('b'), { code: 'EPIPE', query: 'UPDATE' }),
  ])('rethrows the same object if it cannot shape a reply: %s', (error) => {
    expect(hostError(error)).toBe(error);
  });

  it.each([
    ...[
      'status',
      'statusCode',
      'statusText',
      'statusMessage',
      'headers',
      'expose',
      'body',
      'reply',
    ],
    ...['output', 'response', 'getResponse', 'getStatus', 'res', 'toResponse', 'digest'],
  ])('wraps an error whose field `%s` could word the reply', (field) => {
    const thrown = Object.assign(new TypeError('mine'), { [field]: undefined });
    const error = hostError(thrown);
    expect(error).toBeInstanceOf(HandlerError);
    const fields = {
      name: 'HandlerError',
      status: 500,
      statusCode: 500,
      expose: false,
      cause: thrown,
    };
    expect(error).toMatchObject({ ...fields, message: 'the handler threw TypeError: mine' });
    expect(error.stack).toBe(thrown.stack);
    expect(hostError(error)).toBe(error);
  });

  // prettier-ignore
  it.each<readonly [string, Error]>([
    ['has such a field by its class', new (class extends Error { readonly status = 200; })('mine')],
    ['is frozen, because Koa writes to errors', Object.freeze(new Error('mine'))],
    ['is ENOENT, which Koa takes for a missing page', Object.assign(new Error('mine'), { code: 'ENOENT' })],
    ['is a WebhookError whose status was changed', Object.assign(new WebhookError('mine'), { status: 200 })],
    ['is a Proxy', new Proxy(new Error('mine'), {})],
    ['is a Proxy of a WebhookError', flips(new WebhookError('mine'))],
    ['is a WebhookError whose status is a getter', withGetter('status', () => 503, new WebhookError('mine'))],
    ['has getters', withGetter('query', () => 'UPDATE')],
    ['has a tag of its own', Object.assign(tagged, { message: 'mine' })],
    ['is a DOMException', new DOMException('mine', 'TimeoutError')],
  ])('wraps an error with its message and its stack if it %s', (_what, thrown) => {
    const error = hostError(thrown);
    expect(error).toBeInstanceOf(HandlerError);
    expect(error.message).toMatch(/^the handler threw \w+: mine$/);
    expect(error.stack).toBe(thrown.stack);
  });

  it.each(['text', undefined, null, 42, { message: 'mine', status: 200 }])(
    'replaces a thrown value that is not an Error: %j',
    (thrown) => {
      const error = hostError(thrown);
      expect(error).toBeInstanceOf(HandlerError);
      const isObject = typeof thrown === 'object' && thrown !== null;
      const what = isObject ? 'an object that is not an Error' : String(thrown);
      expect(error.message).toBe(`the handler threw ${what}`);
    },
  );

  it.each<readonly [string, unknown]>([
    ['a getter that throws', withGetter('message', cannotRead)],
    [
      'a Proxy that throws',
      new Proxy(new Error('mine'), { get: cannotRead, getPrototypeOf: cannotRead }),
    ],
    [
      'a revoked Proxy',
      (() => {
        const { proxy, revoke } = Proxy.revocable(new Error('mine'), {});
        revoke();
        return proxy;
      })(),
    ],
  ])('replaces an error that cannot be read: %s', (_what, thrown) => {
    const error = hostError(thrown);
    expect(error.message).toBe('the handler threw an error that cannot be read');
    expect(error.cause).toBeUndefined();
  });

  it.each<readonly [string, Error]>([
    [
      'a WebhookError with a cause that cannot be read',
      new WebhookError('mine', {
        cause: new Proxy(new Error('x'), { getPrototypeOf: cannotRead }),
      }),
    ],
    [
      'a message that cannot be text',
      Object.assign(new Error('x'), { message: { toString: cannotRead } }),
    ],
  ])('still ends in a failure if the log cannot read %s (invariant 9)', async (_what, thrown) => {
    const logger = createLog();
    const receiver = createReceiver({ secret, logger }, () => Promise.reject(thrown));
    const outcome = await receiver.receive(deliver(), {}).catch((error: unknown) => error);
    expect(outcome === thrown || (outcome as { status: number }).status === 500).toBe(true);
    expect(logger.lines()).toEqual([expect.stringContaining('an error that cannot be read')]);
  });
});
