import { runInNewContext } from 'node:vm';
import { describe, expect, it, vi } from 'vitest';
import { createReceiver, WebhookError } from '../src/index.js';
import { requireSuccess } from '../src/result.js';
import { createLog, deliver, secret } from './deliver.js';

const foreign = runInNewContext('new Error("no such order")') as Error;
const timeout = new DOMException('too late', 'TimeoutError');
/** As Prisma's errors have a tag. */
const tagged = Object.assign(new Error('no'), { [Symbol.toStringTag]: 'DatabaseError' });
const getter = (field: string, get: () => unknown, error = new Error('mine')): Error =>
  Object.defineProperty(error, field, { get, configurable: true });
/** As node-fetch and other copies of undici make one: its fields are on the prototype. */
const foreignResponse = Object.create({
  ...{ ok: false, status: 502 },
  [Symbol.toStringTag]: 'Response',
}) as object;
/** Returns the error of `requireSuccess`. */
function failureOf(returned: unknown): unknown {
  try {
    requireSuccess(returned);
    return undefined;
  } catch (error) {
    return error;
  }
}
/** As supabase-js gives its errors. */
const plain = { message: 'no right', code: '42501', details: 'a row', hint: null };
/** As Node refuses a connection on a host with two addresses. */
const refused = Object.assign(new AggregateError([new Error('a')]), { code: 'ECONNREFUSED' });
const hostile = (): never => {
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

  // oxfmt-ignore
  it.each<readonly [string, unknown, string]>([
    ['a Response that is not ok', new Response(null, { status: 302 }), 'a Response of status 302'],
    ['a Response of status 503', new Response(null, { status: 503 }), 'a Response of status 503'],
    ['a Response of node-fetch', foreignResponse, 'a Response of status 502'],
    ['a status behind a getter', { get status() { return 503; } }, '{ status: 503 }'],
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
    const message = expect.stringContaining(`the handler returned ${problem}`) as string;
    expect(failureOf(value)).toMatchObject({ message });
  });

  // oxfmt-ignore
  it.each<readonly [string, unknown]>([
    ...[undefined, null, '', false, 503, 'error', [], {}].map((value) => [JSON.stringify(value), value] as const),
    ['a Response that is ok', new Response(null, { status: 204 })],
    ['a status under 400', { status: 399, statusCode: 201 }],
    ['a status that is not a number', { status: 'failed' }],
    ['an inherited status', Object.create({ status: 503 })],
  ])('means success if it is %s', (_what, value) => {
    expect(failureOf(value)).toBeUndefined();
  });
});

/** Receives a delivery whose handler throws this value. Also prints it on the console. */
async function throwAndLog(thrown: unknown) {
  const logger = createLog();
  const printed = vi.spyOn(console, 'error').mockReturnValue(undefined);
  const handler = (): never => {
    throw thrown;
  };
  const replies = [
    await createReceiver({ secret, logger }, handler).receive(deliver(), {}),
    await createReceiver({ secret }, handler).receive(deliver(), {}),
  ];
  const [text] = printed.mock.calls[0] as [string];
  printed.mockRestore();
  expect(replies[0]).toEqual(replies[1]);
  return { reply: replies[0]!, line: logger.lines()[0]!, text, logger };
}

describe('a thrown value', () => {
  it.each<readonly [string, unknown, string]>([
    ['an Error', new Error('mine'), 'mine'],
    ['an Error of another realm', foreign, 'no such order'],
    [
      'an Error with a cause',
      new Error('mine', { cause: new TypeError('yours') }),
      'mine (TypeError: yours)',
    ],
    ['an Error whose cause is a text', new Error('mine', { cause: 'yours' }), 'mine (yours)'],
    ['a plain object with a message', { ...plain, cause: plain }, 'no right (no right)'],
    [
      'an Error whose cause is a plain object',
      new Error('mine', { cause: plain }),
      'mine (no right)',
    ],
    ['an Error with a code and no message', refused, 'ECONNREFUSED'],
    [
      'an Error whose cause has a code and no message',
      new Error('mine', { cause: refused }),
      'mine (AggregateError: ECONNREFUSED)',
    ],
    ['an Error without a message', new Error(''), ''],
    ['an error that acknowledges', Object.assign(new Error('mine'), { status: 200 }), 'mine'],
    ['a DOMException', timeout, 'too late'],
    ['a text', 'out of\n  memory', 'threw out of memory'],
    ['undefined', undefined, 'threw undefined'],
    ['null', null, 'threw null'],
    ['a symbol', Symbol('x'), 'threw Symbol(x)'],
    ['an object', { status: 200 }, 'threw an object that is not an Error'],
    [
      'a message that is not text',
      Object.assign(new Error('x'), { message: { toString: hostile } }),
      'threw an object that is not an Error',
    ],
    ['a getter `message` that throws', getter('message', hostile), 'an error that cannot be read'],
    ['a getter `code` that throws', getter('code', hostile), 'mine'],
    [
      'a getter `code` that throws, and no message',
      getter('code', hostile, new Error('')),
      'an error that cannot be read',
    ],
    [
      'a Proxy that throws',
      new Proxy(new Error('mine'), { get: hostile, getPrototypeOf: hostile }),
      'an error that cannot be read',
    ],
    [
      'a Proxy as prototype',
      Object.setPrototypeOf(new Error('mine'), new Proxy({}, { get: hostile })),
      'an error that cannot be read',
    ],
    [
      'a cause that cannot be read',
      new Error('mine', { cause: new Proxy(new Error('x'), { getPrototypeOf: hostile }) }),
      'an error that cannot be read',
    ],
  ])(
    'is 500 handler_failed with one line in the log: %s',
    { tags: ['G01', 'N07', 'O10'] },
    async (_what, thrown, message) => {
      const { reply, line, text, logger } = await throwAndLog(thrown);
      expect(reply).toEqual({
        status: 500,
        headers: { 'content-type': 'application/json' },
        body: '{"error":"handler_failed"}',
      });
      expect(line).toBe(`[paylink] 500 handler_failed: "order-42": ${message}`);
      expect(text.split('\n')[0]).toBe(line);
      expect(logger.error).toHaveBeenCalledExactlyOnceWith(
        line,
        expect.objectContaining({ code: 'handler_failed' }),
      );
      expect(logger.error.mock.calls[0]![1]!.error).toBe(thrown);
    },
  );

  it('is printed on the console with its stack as text, and without its fields', async () => {
    const error = Object.assign(new Error('mine'), { request: { authorization: 'Bearer key' } });
    const { text } = await throwAndLog(error);
    expect(text).toContain(error.stack!.split('\n')[1]);
    expect(text).not.toContain('Bearer');
  });

  it(
    'decides its status once: a Proxy that flips is answered as first read',
    { tags: 'O10' },
    async () => {
      const logger = createLog();
      const handler = () => Promise.reject(flips(new WebhookError('mine')));
      const reply = await createReceiver({ secret, logger }, handler).receive(deliver(), {});
      expect(reply).toMatchObject({ status: 503, body: '{"error":"mine"}' });
      expect(logger.lines()).toEqual(['[paylink] 503 mine: "order-42": mine']);
    },
  );

  it.each(['code', 'status'])(
    'is 500 if the getter `%s` of a WebhookError throws',
    async (field) => {
      const { reply } = await throwAndLog(getter(field, hostile, new WebhookError('mine')));
      expect(reply).toMatchObject({ status: 500, body: '{"error":"handler_failed"}' });
    },
  );

  it('forges no log line by controls, line separators or bidirectional marks', async () => {
    const marks = '\n[paylink] \u0007\u009b2J\u2028\u2029\u202e\u2066\u200f\u061c';
    const { text, line } = await throwAndLog(new Error(`a${marks}b`));
    const shown = 'a [paylink] \\u0007\\u009b2J \\u202e\\u2066\\u200f\\u061cb';
    expect(line).toContain(`: ${shown}`);
    expect(text).not.toMatch(
      /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u2028\u2029\p{Bidi_Control}]/u,
    );
  });

  it('has a bounded line and a bounded stack', async () => {
    const { line, text } = await throwAndLog(new Error('x'.repeat(1_000_000)));
    expect(line.length).toBeLessThan(2_200);
    expect(text.length).toBeLessThan(11_000);
  });
});
