import { describe, expect, it, vi } from 'vitest';
import { cachedSecret, createGate, createReceiver, createVerifier } from '../src/index.js';
import { WebhookError, type NoEvents, type ReceiverOptions } from '../src/index.js';
import { withinBounds } from '../src/internal.js';
import { createLog, deliver, polluted, secret } from './deliver.js';

type Options = ReceiverOptions<NoEvents, object>;
const noop = () => undefined;
const received = { status: 200, body: '{"received":true}' };

describe('options', () => {
  it.each([
    ['bodyLimit', 0],
    ['bodyLimit', -1],
    ['bodyLimit', 1.5],
    ['bodyLimit', Number.NaN],
    ['bodyLimit', Infinity],
    ['bodyLimit', '64kb'],
    ['bodyLimit', null],
    ['bodyTimeout', 0],
    ['bodyTimeout', 2 ** 31],
    ['handlerTimeout', '25s'],
    ['observe', 'console'],
    ['onError', {}],
    ['events', null],
    ['events', []],
    ['headers', null],
    ['headers', { signature: null }],
    ['headers', { event: 42 }],
    ['headers', { signature: 'a b' }],
    ['headers', { signature: 'é' }],
    ['headers', { signature: 'x', event: 'X' }],
    ['logger', null],
    ['logger', {}],
    ['logger', { warn: noop }],
    ['logger', { warn: 'no', error: 'no' }],
    ['idempotancy', {}],
    ['__proto__', {}],
  ])('throw at startup and name the option: %s %j', (option, value) => {
    const options = JSON.parse('{}') as Record<string, unknown>;
    Object.defineProperty(options, option, { value, enumerable: true });
    const make = () => createReceiver({ secret, ...options }, noop);
    if (option !== '__proto__') expect(make).toThrow(new RegExp(`^${option} `));
    expect(() => createReceiver(Object.assign(options, { secret }), noop)).toThrow(
      new RegExp(`^${option} `),
    );
  });

  it('names every valid option if one is misspelt', () => {
    const misspelt = { secret, sekret: 'x' } as Options;
    const verifier = 'sekret is an unknown option. Valid options: secret, events, headers, logger';
    const reading = `${verifier}, bodyLimit, bodyTimeout, observe`;
    const errorOf = (make: () => unknown): unknown => {
      try {
        return make();
      } catch (error) {
        return error;
      }
    };
    const misconfigured = { name: 'ConfigurationError', code: 'misconfigured', option: 'sekret' };
    for (const [make, message] of [
      [() => createVerifier(misspelt), verifier],
      [() => createReceiver(misspelt, noop), `${reading}, handlerTimeout, onError`],
      [() => createGate(misspelt), `${reading}, unrecognized`],
    ] as const) {
      expect(errorOf(make)).toMatchObject({ ...misconfigured, message });
    }
    const headers = { signatur: 'x' } as object;
    expect(() => createVerifier({ secret, headers })).toThrow('Valid options: signature, event');
    expect(() => createGate({ secret, unrecognized: 'ignore' as 'pass' })).toThrow(
      "must be 'pass'",
    );
  });

  it.each([undefined, null, 'a-secret', noop])('must be an object, not %j', (options) => {
    for (const make of [
      () => createReceiver(options as never, noop),
      () => createGate(options as never),
      () => createVerifier(options as never),
    ]) {
      expect(make).toThrow('options must be an object');
    }
  });

  it('fall back to their defaults if they are undefined, as in a spread', async () => {
    const names = ['events', 'headers', 'logger', 'bodyLimit', 'bodyTimeout', 'observe', 'onError'];
    const unset = Object.fromEntries(names.map((name) => [name, undefined]));
    const receiver = createReceiver({ secret, handlerTimeout: undefined, ...unset }, noop);
    expect(await receiver.receive(deliver(), {})).toMatchObject(received);
  });
});

describe('a polluted Object.prototype', () => {
  it('sets no option of a receiver, a gate or a verifier', async () => {
    const observe = vi.fn();
    const hostile = {
      ...{ secret: 'changeme', events: 7, headers: { signature: 'x' }, logger: 7, bodyLimit: 1 },
      ...{ bodyTimeout: 0, handlerTimeout: 1, observe, onError: observe, unrecognized: 'pass' },
      ...{ signature: 'x', event: 'y', reference: 'an-order-of-nobody', status: 'failed', kind: 1 },
      ...{ tenant: 'b', handlers: 1, milliseconds: 0, signals: 7, reason: 7 },
    };
    const [delivery, other] = [deliver(), deliver({ type: 'a.b' })];
    const empty = deliver({ rawBody: '{}' });
    await polluted(hostile, async () => {
      const handler = vi.fn();
      const receiver = createReceiver({ secret, headers: {} }, handler);
      expect(await receiver.receive(delivery, {})).toMatchObject(received);
      expect((handler.mock.calls[0]![0] as { tenant: string | null }).tenant).toBeNull();
      expect(await receiver.receive(empty, {})).toMatchObject({ status: 400 });
      expect(handler).toHaveBeenCalledOnce();
      const gate = createGate({ secret });
      expect(await gate.admit(other, {}, {})).toMatchObject(received);
      const warn = vi.spyOn(console, 'warn').mockReturnValue(undefined);
      const refused = await receiver.receive({ ...delivery, header: () => undefined }, {});
      expect(refused).toMatchObject({ status: 401 });
      expect(warn).toHaveBeenCalledOnce();
      warn.mockRestore();
      expect(() => createVerifier({} as never)).toThrow('secret is missing');
      expect(await withinBounds(Promise.resolve(1), {})).toBe(1);
      expect(() => cachedSecret(() => ({ secret, tenant: null }), {} as never)).toThrow(
        /^key must/,
      );
    });
    expect(observe).not.toHaveBeenCalled();
  });

  it('completes no answer of a secret function', async () => {
    const logger = createLog();
    const delivery = deliver();
    await polluted({ secret, tenant: null }, async () => {
      for (const answer of [{}, { secret }, { tenant: null }]) {
        const receiver = createReceiver({ secret: () => answer as never, logger }, noop);
        expect(await receiver.receive(delivery, {})).toMatchObject({ status: 503 });
      }
    });
  });

  it('sets neither status nor message nor cause nor retryAfter of a WebhookError', async () => {
    const delivery = deliver();
    await polluted({ status: 599, cause: 'polluted', retryAfter: 3_600_000 }, async () => {
      const error = new WebhookError('orders_unavailable', {});
      expect(error).toMatchObject({ status: 503, message: 'orders_unavailable' });
      expect(Object.hasOwn(error, 'cause')).toBe(false);
      const receiver = createReceiver({ secret, logger: createLog() }, () => Promise.reject(error));
      const { headers } = await receiver.receive(delivery, {});
      expect(headers['retry-after']).toBe('5');
    });
  });
});
