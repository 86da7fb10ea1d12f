import { afterEach, describe, expect, it, vi } from 'vitest';
import { z } from 'zod';
import { createReceiver, WebhookError } from '../src/index.js';
import type { DeliveryOutcome } from '../src/reporting.js';
import { createLog, deliver, secret } from './deliver.js';

const logger = createLog();
const received = { status: 200, body: '{"received":true}' };
const failed = { status: 500, body: '{"error":"handler_failed"}' };
const other = deliver({ type: 'payment.refunded' });
const events = { 'payment.refunded': z.object({ reference: z.string() }) };
const noop = () => undefined;
const throwing = (error: unknown) => (): never => {
  throw error;
};

afterEach(() => {
  vi.useRealTimers();
});

describe('a handler', () => {
  it('gets the event, and the host with a signal: nothing to respond with', async () => {
    const handler = vi.fn();
    await createReceiver({ secret }, handler).receive(deliver(), { req: 1, signal: 'of the host' });
    const [event, context] = handler.mock.calls[0] as [object, { signal: AbortSignal }];
    expect(event).toMatchObject({ type: 'payment.succeeded', reference: 'order-42', tenant: null });
    expect({ ...context }).toEqual({ req: 1 });
    expect(context.signal).toBeInstanceOf(AbortSignal);
    expect(context.signal).toBe(context.signal);
  });

  it('gets 503 if a thenable gives another that never settles', { tags: 'G03' }, async () => {
    const handler = () => ({
      then: (done: (value: unknown) => void) => done({ then: () => undefined }),
    });
    const receiver = createReceiver({ secret, logger, handlerTimeout: 20 }, handler);
    expect(await receiver.receive(deliver(), {})).toMatchObject({
      status: 503,
      body: '{"error":"handler_timeout"}',
    });
  });

  it.each([
    'value',
    Promise.resolve('value'),
    { then: (done: (value: string) => void) => done('value') },
  ])('succeeds if it returns, and core ignores the value: %o', async (value) => {
    const reply = await createReceiver({ secret }, () => value).receive(deliver(), {});
    expect(reply).toMatchObject(received);
    expect(reply).not.toHaveProperty('value');
  });

  it('has no say about a signed status that contradicts the event', { tags: 'C24' }, async () => {
    const handler = vi.fn();
    const contradicted = deliver({ payload: { status: 'failed' } });
    for (const handlers of [handler, { 'payment.succeeded': handler }]) {
      const receiver = createReceiver({ secret, logger }, handlers);
      expect(await receiver.receive(contradicted, {})).toMatchObject({ status: 400 });
    }
    expect(handler).not.toHaveBeenCalled();
  });
});

describe('onError', () => {
  it('gets the very value that a handler threw, and the host', { tags: 'G01' }, async () => {
    const host = { req: 1 };
    for (const thrown of [new RangeError('mine'), 'text', undefined, new WebhookError('mine')]) {
      const onError = vi.fn();
      const receiver = createReceiver({ secret, logger, onError }, () => Promise.reject(thrown));
      expect(await receiver.receive(deliver(), host)).toMatchObject({ status: 500 });
      expect(onError.mock.calls).toEqual([[thrown, host]]);
      expect((onError.mock.calls[0] as unknown[])[1]).toBe(host);
    }
  });

  it('gets the failure that a handler returned, and the bug of a schema', async () => {
    const onError = vi.fn();
    const returning = createReceiver({ secret, logger, onError }, () => ({ statusCode: 503 }));
    expect(await returning.receive(deliver(), {})).toMatchObject(failed);
    const bug = new RangeError('bug');
    const schema = { version: 1, vendor: 'test', validate: throwing(bug) } as const;
    const buggy = { 'payment.succeeded': { '~standard': schema } };
    const receiver = createReceiver({ secret, logger, onError, events: buggy }, noop);
    expect(await receiver.receive(deliver(), {})).toMatchObject(failed);
    const message = 'the handler returned { statusCode: 503 }. Throw an error to fail';
    expect(onError.mock.calls).toEqual([
      [expect.objectContaining({ message: expect.stringContaining(message) as string }), {}],
      [bug, {}],
    ]);
  });

  it('is not called for a delivery that never reached a handler', async () => {
    const onError = vi.fn();
    const receiver = createReceiver({ secret, logger, onError }, noop);
    await receiver.receive(deliver({ rawBody: '{' }), {});
    await receiver.receive(other, {});
    expect(onError).not.toHaveBeenCalled();
  });
});

describe('a set of handlers', () => {
  it('ignores kinds that are not configured, and kinds without a handler', async () => {
    const handler = vi.fn();
    const outcomes: DeliveryOutcome[] = [];
    const observe = (outcome: DeliveryOutcome) => outcomes.push(outcome);
    const map = { 'payment.succeeded': handler };
    for (const handlers of [handler, map] as const) {
      expect(await createReceiver({ secret, observe }, handlers).receive(other, {})).toMatchObject(
        received,
      );
    }
    await createReceiver({ secret, observe, events }, map).receive(other, {});
    expect(handler).not.toHaveBeenCalled();
    const types = outcomes.map(({ outcome, type }) => [outcome, type]);
    expect(types).toEqual([
      ['ignored', 'unrecognized'],
      ['ignored', 'unrecognized'],
      ['ignored', 'payment.refunded'],
    ]);
  });

  it('gives other kinds to `unrecognized`', async () => {
    const unrecognized = vi.fn();
    const handlers = { 'payment.succeeded': noop, unrecognized };
    await createReceiver({ secret }, handlers).receive(other, {});
    expect(unrecognized.mock.calls[0]![0]).toMatchObject({
      type: 'unrecognized',
      kind: 'payment.refunded',
    });
  });

  it('has no handler under the inherited name of a configured kind', async () => {
    const observe = vi.fn();
    const inherited = { constructor: events['payment.refunded'] as never };
    const handlers = { 'payment.succeeded': noop } as never;
    const receiver = createReceiver({ secret, observe, events: inherited }, handlers);
    expect(await receiver.receive(deliver({ type: 'constructor' }), {})).toMatchObject(received);
    expect(observe).toHaveBeenCalledWith(expect.objectContaining({ outcome: 'ignored' }));
  });

  it('copies the set of handlers at startup', async () => {
    const first = vi.fn();
    const handlers = { 'payment.succeeded': first };
    const receiver = createReceiver({ secret }, handlers);
    handlers['payment.succeeded'] = vi.fn();
    await receiver.receive(deliver(), {});
    expect(first).toHaveBeenCalledOnce();
  });

  const of = (kind: string) => `handlers['${kind}']`;
  const missing = `${of('payment.succeeded')} is missing`;
  // oxfmt-ignore
  it.each([
    ['undefined', undefined, 'handlers must be a map'],
    ['null', null, 'handlers must be a map'],
    ['an empty map', {}, missing],
    ['a map without payment.succeeded', { unrecognized: noop }, missing],
    ['a misspelt kind', { 'payment.succeded': noop },
      `${of('payment.succeded')} is not for a configured kind. ` +
      'Configured kinds: payment.succeeded. The option `events` adds more'],
    ['a value that is not a function', { 'payment.succeeded': 1 },
      `${of('payment.succeeded')} must be a function`],
    ['an undefined value', { 'payment.succeeded': noop, unrecognized: undefined },
      `${of('unrecognized')} must be a function`],
    ['payments instead of payments.receive', { receive: noop },
      `${of('receive')} is not for a configured kind. Configured kinds: payment.succeeded. Pass \`payments.receive\``],
  ])('throws at startup for %s', (_what, handlers, message) => {
    expect(() => createReceiver({ secret }, handlers as never)).toThrow(message);
  });
});

describe('handlerTimeout', () => {
  it('aborts the signal with the error before it replies 503', { tags: 'G03' }, async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const order: unknown[] = [];
    let begin!: () => void;
    const begun = new Promise<void>((resolve) => (begin = resolve));
    const receiver = createReceiver(
      { secret, handlerTimeout: 50, logger },
      (_event, { signal }) => {
        signal.addEventListener('abort', () => order.push(signal.reason));
        begin();
        return new Promise(() => undefined);
      },
    );
    const receiving = receiver.receive(deliver(), {}).then(({ status }) => order.push(status));
    await begun;
    await vi.advanceTimersByTimeAsync(49);
    expect(order).toEqual([]);
    await vi.advanceTimersByTimeAsync(1);
    await receiving;
    expect(order).toEqual([expect.objectContaining({ code: 'handler_timeout' }), 503]);
  });

  it('aborts a signal that the handler reads only afterwards', async () => {
    let context!: { readonly signal: AbortSignal };
    const receiver = createReceiver({ secret, handlerTimeout: 5, logger }, (_event, given) => {
      context = given;
      return new Promise(() => undefined);
    });
    expect(await receiver.receive(deliver(), {})).toMatchObject({ status: 503 });
    expect(context.signal.reason).toMatchObject({ code: 'handler_timeout' });
  });

  it('is 25 seconds by default, and leaves no timer behind', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const timers = vi.spyOn(globalThis, 'setTimeout');
    await createReceiver({ secret }, noop).receive(deliver(), {});
    expect(timers).not.toHaveBeenCalled();
    await createReceiver({ secret }, () => Promise.resolve()).receive(deliver(), {});
    expect(timers).toHaveBeenCalledExactlyOnceWith(expect.any(Function), 25_000);
    expect(vi.getTimerCount()).toBe(0);
  });
});
