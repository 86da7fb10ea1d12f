import { inspect } from 'node:util';
import { describe, expect, it, vi } from 'vitest';
import {
  ConfigurationError,
  createDispatcher,
  createReceiver,
  createVerifier,
  errorReply,
  isWebhookError,
  memoryStore,
  WebhookError,
} from '../src/index.js';

describe('WebhookError', () => {
  it('knows the status of a code of ours, and takes another', () => {
    expect(new WebhookError('in_progress')).toMatchObject({
      name: 'WebhookError',
      code: 'in_progress',
      status: 503,
      message: 'in_progress',
    });
    expect(new WebhookError('unknown_order')).toMatchObject({ status: 500 });
    expect(new WebhookError('unknown_order', { status: 404, message: 'no such order', cause: 1 })).toMatchObject({
      status: 404,
      message: 'no such order',
      cause: 1,
    });
    expect(inspect(new WebhookError('in_progress'))).toMatch(/^WebhookError: in_progress/);
  });

  it.each(['constructor', 'toString'])('does not take an inherited name for a code of ours: %s', (code) => {
    expect(() => new WebhookError(code).status).toSatisfy((make: () => unknown) => {
      try {
        return make() === 500;
      } catch (error) {
        return error instanceof ConfigurationError;
      }
    });
  });

  it.each([200, 204, 302, 399, 600, 500.5, '503', Number.NaN])(
    'refuses the status %j: it would acknowledge what was not done',
    (status) => {
      expect(() => new WebhookError('mine', { status: status as number })).toThrow(
        expect.objectContaining({ name: 'ConfigurationError', code: 'misconfigured', option: 'status' }),
      );
    },
  );

  it.each([400, 599])('takes the status %i', (status) => {
    expect(new WebhookError('mine', { status }).status).toBe(status);
  });

  it.each([
    ['body_too_large', 'the body is larger than bodyLimit'],
    ['body_timeout', 'the body took longer than bodyTimeout'],
    ['incomplete_body', 'the sender went away before the body was complete'],
  ])('says in a sentence what adapters find in a body: %s', (code, message) => {
    expect(new WebhookError(code).message).toBe(message);
  });

  it('has no cause where none was given', () => {
    expect(new WebhookError('in_progress')).not.toHaveProperty('cause');
  });

  it.each(['a', '_', 'order_2', 'x'.repeat(64)])('takes the code %j', (code) => {
    expect(new WebhookError(code).code).toBe(code);
  });

  it.each(['', 'a b', 'A', 'a"b', 'x'.repeat(65)])('refuses the code %j, which goes onto the wire', (code) => {
    expect(() => new WebhookError(code)).toThrow(expect.objectContaining({ code: 'misconfigured', option: 'code' }));
  });

  it('is recognised across two copies of this package (K01)', async () => {
    vi.resetModules();
    const other = await import('../src/index.js');
    const error = new other.WebhookError('in_progress');
    expect(error).not.toBeInstanceOf(WebhookError);
    expect(isWebhookError(error)).toBe(true);
    expect(errorReply(error)).toMatchObject({ status: 503 });
  });

  it.each([undefined, null, 1, 'in_progress', {}, new Error('no'), { code: 'in_progress', status: 503 }])('is not %j', (value) => {
    expect(isWebhookError(value)).toBe(false);
  });

  it.each([
    ['a status that would acknowledge', { status: 200 }],
    ['a code that would break the reply', { code: 'a"b' }],
    ['a list for a code', { code: ['in_progress'] }],
  ])('is no longer one that was given %s', (_, changed) => {
    const error = new WebhookError('in_progress');
    expect(isWebhookError(error)).toBe(true);
    expect(isWebhookError(Object.assign(error, changed))).toBe(false);
  });

  it('is one by a mark whose name other versions know', () => {
    const mark = Symbol.for('@paylink/core:WebhookError');
    expect(isWebhookError({ code: 'in_progress', status: 503, [mark]: true })).toBe(true);
    expect(isWebhookError({ code: 'in_progress', status: 503, [mark]: 'yes' })).toBe(false);
  });

  it('is not what throws at who looks at it', () => {
    const get = (): never => {
      throw new Error('no');
    };
    expect(isWebhookError(new Proxy({}, { get }))).toBe(false);
  });
});

describe('errorReply', () => {
  it('says the code and nothing else', () => {
    const error = new WebhookError('invalid_signature', { message: 'secret words', cause: new Error('more') });
    expect(errorReply(error)).toEqual({
      status: 401,
      headers: { 'content-type': 'application/json', 'www-authenticate': 'Signature' },
      body: '{"error":"invalid_signature"}',
    });
  });

  it.each([
    ['method_not_allowed', 405, { allow: 'POST' }],
    ['invalid_signature', 401, { 'www-authenticate': 'Signature' }],
    ['store_unavailable', 503, { 'retry-after': '5' }],
    ['in_progress', 503, { 'retry-after': '5' }],
    ['nothing_written', 503, { 'retry-after': '60' }],
    ['misconfigured', 500, {}],
    ['body_too_large', 413, {}],
    ['invalid_payload', 400, {}],
  ])('answers %s with %i and the headers that it asks for, and no others', (code, status, headers) => {
    expect(errorReply(new WebhookError(code))).toEqual({
      status,
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify({ error: code }),
    });
  });

  it.each(['constructor', 'toString', '__proto__'])('takes the inherited name %s for no code of its own', (code) => {
    const name = code.toLowerCase();
    expect(new WebhookError(name).status).toBe(500);
    if (name === code) expect(errorReply(new WebhookError(code))).toMatchObject({ status: 500, body: `{"error":"${code}"}` });
  });
});

describe('the stack of a ConfigurationError', () => {
  const thrownBy = (make: () => unknown): Error => {
    try {
      make();
    } catch (error) {
      return error as Error;
    }
    return expect.unreachable();
  };

  it.each<readonly [string, () => unknown]>([
    ['createReceiver', () => createReceiver({ secret: undefined }, () => undefined)],
    ['createReceiver, in a list of secrets', () => createReceiver({ secret: ['a-secret-of-the-portal', ''] }, () => undefined)],
    ['a gate', () => createReceiver({ secret: undefined })],
    ['createVerifier', () => createVerifier({ secret: '' })],
    ['createDispatcher', () => createDispatcher({ observe: 7 as never }, () => undefined)],
    ['memoryStore', () => memoryStore({ limit: 0 })],
    ['WebhookError', () => new WebhookError('A')],
  ])('begins at the line that called %s', (_name, make) => {
    const { stackTraceLimit } = Error;
    const [head, first, ...others] = thrownBy(make).stack!.split('\n');
    expect(head).toMatch(/^ConfigurationError: \w+/);
    expect(first).toContain('errors.test.ts');
    expect(others.length).toBeLessThan(stackTraceLimit);
    expect(Error.stackTraceLimit).toBe(stackTraceLimit);
  });

  /** With the frames that an engine would have captured. */
  const stackOf = (...frames: readonly string[]): readonly string[] => {
    const captured = Error.captureStackTrace;
    Object.assign(Error, {
      captureStackTrace: (error: Error) =>
        void (error.stack = ['ConfigurationError: secret is at fault', ...frames.map((frame) => `    at ${frame}`)].join('\n')),
    });
    try {
      return new ConfigurationError('secret', 'is at fault').stack!.split('\n');
    } finally {
      Object.assign(Error, { captureStackTrace: captured });
    }
  };
  const merchant = ['start (/shop/server.js:3:7)', 'Module._compile (node:internal/modules:1:1)', '/shop/main.js:1:1'];

  it.each<readonly [string, ...string[]]>([
    [
      'in one package',
      '/shop/node_modules/@paylink/core/dist/index.js:9:9',
      'new X (/shop/node_modules/@paylink/core/dist/a.js:1:1)',
    ],
    ['in an adapter', 'check (/s/@paylink/core/dist/index.js:9:9)', 'gate (/s/@paylink/next-auth/dist/index.cjs:1:1)'],
    [
      'in a store of pnpm',
      'a (/s/.pnpm/@p+core/node_modules/@paylink/core/dist/i.js:9:9)',
      'b (/s/node_modules/@paylink/node/dist/i.js:1:1)',
    ],
    [
      'on Windows',
      'a (C:\\shop\\node_modules\\@paylink\\core\\dist\\i.js:9:9)',
      'b (C:\\shop\\node_modules\\@paylink\\koa\\src\\i.js:1:1)',
    ],
    ['in the sources', 'check (/repo/packages/core/src/errors.ts:9:9)', 'b (/repo/packages/express-5/src/index.ts:1:1)'],
    ['in the sources on Windows', 'check (C:\\repo\\core\\src\\errors.ts:9:9)', 'b (C:\\repo\\express\\dist\\index.ts:1:1)'],
    ['in the sources, loaded by an address', 'file:///repo/core/src/errors.ts:9:9', 'b (file:///repo/express/src/index.ts:1:1)'],
    ['with native ones between', 'a (/s/@paylink/core/dist/i.js:9:9)', 'Array.map (<anonymous>)', 'x (node:internal/a:1:1)'],
  ])('begins behind our frames %s', (_, ...ours) => {
    expect(stackOf(...ours, ...merchant)).toEqual([
      'ConfigurationError: secret is at fault',
      ...merchant.map((frame) => `    at ${frame}`),
    ]);
  });

  it.each<readonly [string, string, string]>([
    ['a test beside our sources', '/repo/packages/core/src/errors.ts:9:9', '/repo/packages/core/test/errors.test.ts:1:1'],
    ['a folder src below one of ours', '/repo/packages/core/src/errors.ts:9:9', '/repo/packages/core/test/src/a.ts:1:1'],
    ['a file of another root', '/repo/packages/core/src/errors.ts:9:9', '/shop/core/src/server.ts:1:1'],
    ['another package of the scope, outside of its build', '/s/@paylink/core/dist/i.js:9:9', '/s/@paylink/core/server.js:1:1'],
    ['a package that is named as one of ours', '/s/@paylink/core/dist/i.js:9:9', '/s/paylink/core/dist/i.js:1:1'],
  ])('does not take for ours %s', (_, ours, other) => {
    expect(stackOf(ours, other, ...merchant)[1]).toBe(`    at ${other}`);
  });

  it('is whole where no frame is ours, or all are, and no longer than the engine’s own', () => {
    expect(stackOf(...merchant)).toHaveLength(4);
    const ours = Array.from({ length: 12 }, (_, index) => `a (/s/@paylink/core/dist/i.js:${index}:1)`);
    expect(stackOf(...ours)).toHaveLength(13);
    const many = Array.from({ length: 40 }, (_, index) => `/shop/server.js:${index}:1`);
    expect(stackOf(...ours, ...many)).toHaveLength(1 + Error.stackTraceLimit);
    expect(stackOf(...many)).toHaveLength(1 + Error.stackTraceLimit);
  });

  it('is left as it is where the engine has no such stacks', () => {
    const captured = Error.captureStackTrace;
    const { stackTraceLimit } = Error;
    Object.assign(Error, { captureStackTrace: undefined });
    try {
      expect(thrownBy(() => createVerifier({ secret: '' })).stack).toContain('ConfigurationError: secret is empty');
      expect(Error.stackTraceLimit).toBe(stackTraceLimit);
    } finally {
      Object.assign(Error, { captureStackTrace: captured });
    }
  });
});
