import { afterEach, describe, expect, it, vi } from 'vitest';
import { z } from 'zod';
import { createReceiver, WebhookError, type DeliveryOutcome, type Handled } from '../src/index.js';
import { createLog, deliver, polluted, secret } from './deliver.js';

const logger = createLog();
const received = { status: 200, body: '{"received":true}' };
const other = deliver({ type: 'payment.refunded' });
const events = { 'payment.refunded': z.object({ reference: z.string() }) };
const noop = () => undefined;

afterEach(() => {
  vi.useRealTimers();
});

describe('a handler', () => {
  it('gets the event, and the host with a signal: nothing to respond with', async () => {
    const handler = vi.fn();
    await createReceiver({ secret }, handler).receive(deliver(), { req: 1, signal: 'of the host' });
    const [event, context] = handler.mock.calls[0] as [object, object];
    expect(event).toMatchObject({ type: 'payment.succeeded', reference: 'order-42' });
    expect(context).toEqual({ req: 1, signal: expect.any(AbortSignal) as AbortSignal });
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

  it('fails with the very object that it threw', async () => {
    const error = new RangeError('mine');
    const throwing = (): never => {
      throw error;
    };
    for (const handler of [throwing, () => Promise.reject(error), () => error]) {
      await expect(createReceiver({ secret, logger }, handler).receive(deliver(), {})).rejects.toBe(
        error,
      );
    }
  });

  it('fails if it returns a failure', async () => {
    const handler = () => ({ statusCode: 503 });
    const receiving = createReceiver({ secret, logger }, handler).receive(deliver(), {});
    await expect(receiving).rejects.toThrow(
      'the handler returned { statusCode: 503 }. Throw an error to fail',
    );
  });

  it('replies with the status of a WebhookError that it returns or throws', async () => {
    const error = new WebhookError('unknown_order', { status: 404 });
    for (const handler of [() => error, () => Promise.reject(error)]) {
      const reply = await createReceiver({ secret, logger }, handler).receive(deliver(), {});
      expect(reply).toMatchObject({ status: 404, body: '{"error":"unknown_order"}' });
    }
  });
});

describe('a set of handlers', () => {
  it('ignores kinds that are not configured, and kinds without a handler', async () => {
    const handler = vi.fn();
    const outcomes: DeliveryOutcome[] = [];
    const observe = (outcome: DeliveryOutcome) => outcomes.push(outcome);
    const map = { 'payment.succeeded': handler };
    for (const handlers of [handler, map, { receive: handler }] as const) {
      expect(
        await createReceiver({ secret, observe }, handlers as never).receive(other, {}),
      ).toMatchObject(received);
    }
    await createReceiver({ secret, observe, events }, map).receive(other, {});
    expect(handler).not.toHaveBeenCalled();
    const types = outcomes.map(({ outcome, type }) => [outcome, type]);
    expect(types).toEqual([
      ...Array<unknown>(3).fill(['ignored', 'unrecognized']),
      ['ignored', 'payment.refunded'],
    ]);
  });

  it('gives other kinds to `unrecognized`', async () => {
    const unrecognized = vi.fn();
    await createReceiver({ secret }, { 'payment.succeeded': noop, unrecognized }).receive(
      other,
      {},
    );
    expect(unrecognized.mock.calls[0]![0]).toMatchObject({
      type: 'unrecognized',
      kind: 'payment.refunded',
    });
  });

  it.each(['constructor', '__proto__', 'unrecognized', 'hasownproperty'])(
    'has no handler under the inherited name %s',
    async (type) => {
      const handler = vi.fn();
      await createReceiver({ secret }, { 'payment.succeeded': handler }).receive(
        deliver({ type }),
        {},
      );
      expect(handler).not.toHaveBeenCalled();
    },
  );

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
  // prettier-ignore
  it.each([
    ['undefined', undefined, 'handlers must be a map'],
    ['null', null, 'handlers must be a map'],
    ['an empty map', {}, missing],
    ['a map without payment.succeeded', { unrecognized: noop }, missing],
    ['a misspelt kind', { 'payment.succeded': noop },
      `${of('payment.succeded')} is not for a configured kind (did you mean 'payment.succeeded'?)`],
    ['a status as a kind', { 'payment.success': noop }, "did you mean 'payment.succeeded'?"],
    ['a kind unlike all', { 'charge.paid': noop },
      'kind. Configured kinds: payment.succeeded. The option `events` adds more'],
    ['a value that is not a function', { 'payment.succeeded': 1 },
      `${of('payment.succeeded')} must be a function`],
    ['an undefined value', { 'payment.succeeded': noop, unrecognized: undefined },
      `${of('unrecognized')} must be a function`],
    ['a receive that is not a function', { receive: 1 }, `${of('receive')} is not for`],
    ['a handler beside a receive', { 'payment.succeeded': noop, receive: noop },
      `${of('receive')} is not for`],
  ])('throws at startup for %s', (_what, handlers, message) => {
    expect(() => createReceiver({ secret }, handlers as never)).toThrow(message);
  });
});

describe('an event receiver, such as payments', () => {
  class Payments {
    readonly seen: unknown[] = [];
    receive(event: { readonly reference: string }, context: object): Promise<Handled> {
      this.seen.push(event.reference, context);
      return Promise.resolve({ outcome: 'handled' });
    }
  }

  it('recognises an event receiver by its own or inherited `receive`, and calls it as a method', async () => {
    const payments = new Payments();
    expect(await createReceiver({ secret }, payments).receive(deliver(), { req: 1 })).toMatchObject(
      received,
    );
    expect(payments.seen).toEqual([
      'order-42',
      { req: 1, signal: expect.any(AbortSignal) as AbortSignal },
    ]);
    const receive = vi.fn(() => Promise.resolve<Handled>({ outcome: 'handled' }));
    await createReceiver({ secret }, { receive }).receive(deliver(), {});
    expect(receive).toHaveBeenCalledOnce();
  });

  it.each([
    [{ outcome: 'handled' }, 'handled'],
    [{ outcome: 'duplicate' }, 'duplicate'],
    [{ outcome: 'ignored' }, 'ignored'],
    [undefined, 'handled'],
  ])('acknowledges its result %j, observed as %s', async (returned, outcome) => {
    const observe = vi.fn();
    const payments = { receive: () => Promise.resolve(returned as Handled) };
    expect(
      await createReceiver({ secret, observe }, payments).receive(deliver(), {}),
    ).toMatchObject(received);
    expect(observe).toHaveBeenCalledExactlyOnceWith(expect.objectContaining({ outcome }));
  });

  it('answers 500 if the outcome is unknown, because nothing may have been done', async () => {
    const receive = () => Promise.resolve({ outcome: 'in_progress' } as never);
    const reply = await createReceiver({ secret, logger }, { receive }).receive(deliver(), {});
    expect(reply).toMatchObject({ status: 500, body: '{"error":"handler_failed"}' });
  });

  it('gets events of its own `kinds` without the option `events`', async () => {
    const receive = vi.fn(() => Promise.resolve<Handled>({ outcome: 'handled' }));
    const refund = deliver({ type: 'payment.refunded' });
    await createReceiver({ secret }, { receive }).receive(refund, {});
    expect(receive).not.toHaveBeenCalled();
    const kinds = ['payment.refunded'];
    await createReceiver({ secret }, { kinds, receive }).receive(refund, {});
    expect(receive).toHaveBeenCalledExactlyOnceWith(
      expect.objectContaining({ type: 'payment.refunded', reference: 'order-42' }),
      expect.anything(),
    );
    await polluted({ kinds }, () => createReceiver({ secret }, { receive }).receive(refund, {}));
    expect(receive).toHaveBeenCalledOnce();
  });

  it('decides the meaning of a contradicting status', async () => {
    const receive = vi.fn(() => Promise.resolve<Handled>({ outcome: 'ignored' }));
    const failed = deliver({ payload: { status: 'failed' } });
    expect(await createReceiver({ secret }, { receive }).receive(failed, {})).toMatchObject(
      received,
    );
    expect(receive).toHaveBeenCalledOnce();
  });

  it('never takes an event receiver from a polluted Object.prototype', async () => {
    const receive = vi.fn(() => Promise.resolve({ outcome: 'handled' }));
    class Map {
      readonly unrecognized = noop;
    }
    await polluted({ receive }, async () => {
      for (const handlers of [{}, new Map(), []]) {
        expect(() => createReceiver({ secret }, handlers as never)).toThrow('is missing');
      }
      const handler = vi.fn();
      await createReceiver({ secret }, { 'payment.succeeded': handler }).receive(deliver(), {});
      expect(handler).toHaveBeenCalledOnce();
      const own = new Payments();
      await createReceiver({ secret }, own).receive(deliver(), {});
      expect(own.seen).toHaveLength(2);
    });
    expect(receive).not.toHaveBeenCalled();
  });
});

describe('handlerTimeout', () => {
  it('aborts the signal with the error before it replies 503', async () => {
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

  it('limits a handler to 25 seconds by default, and leaves no timer behind one that ends', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const timers = vi.spyOn(globalThis, 'setTimeout');
    await createReceiver({ secret }, noop).receive(deliver(), {});
    expect(timers).toHaveBeenCalledExactlyOnceWith(expect.any(Function), 25_000);
    expect(vi.getTimerCount()).toBe(0);
  });

  it('swallows the error of a handler that fails later', async () => {
    let fail!: (error: Error) => void;
    const running = new Promise<never>((_resolve, reject) => (fail = reject));
    const receiver = createReceiver({ secret, handlerTimeout: 5, logger }, () => running);
    expect(await receiver.receive(deliver(), {})).toMatchObject({ status: 503 });
    fail(new Error('late'));
    // An unhandled rejection would fail the run.
    await new Promise((resolve) => setImmediate(resolve));
  });
});
