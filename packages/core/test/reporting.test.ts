import { afterEach, describe, expect, it, vi } from 'vitest';
import { createGate, createReceiver, createVerifier, WebhookError } from '../src/index.js';
import type { DeliveryOutcome } from '../src/reporting.js';
import { createLog, deliver, forged, PORTAL_SECRET, secret } from './deliver.js';

const noop = () => undefined;
const throwing = (error: unknown) => (): never => {
  throw error;
};

afterEach(() => {
  vi.unstubAllEnvs();
  vi.unstubAllGlobals();
  vi.restoreAllMocks();
  vi.useRealTimers();
});

describe('the log of a failed delivery', () => {
  const failing = async (handler: () => unknown, times = 1) => {
    const log = createLog();
    const receiver = createReceiver({ secret, logger: log }, handler);
    for (let time = 0; time < times; time++) await receiver.receive(deliver(), {});
    return log;
  };

  it('has a line with code, reference, message and cause, and the same as fields', async () => {
    const cause = new TypeError('no row\n  of this order');
    const error = new WebhookError('not_credited', { message: 'rolled back', cause });
    const log = await failing(throwing(error));
    expect(log.error.mock.calls).toEqual([
      [
        '[paylink] 503 not_credited: "order-42": rolled back (TypeError: no row of this order)',
        {
          code: 'not_credited',
          status: 503,
          reference: 'order-42',
          kind: 'payment.succeeded',
          error,
        },
      ],
    ]);
    expect(log.warn).not.toHaveBeenCalled();
  });

  it('has every failure, also in production and with any status, and one line each', async () => {
    for (const status of [404, 500, 503]) {
      const log = await failing(throwing(new WebhookError('too_late', { status })), 3);
      // A code of the merchant has no page.
      expect(log.lines()).toEqual(
        Array(3).fill(`[paylink] ${status} too_late: "order-42": too_late`),
      );
    }
  });

  it('writes a reference with line breaks and bidirectional marks in one line, cut to 200 characters', async () => {
    const log = createLog();
    const receiver = createReceiver({ secret, logger: log }, throwing(new Error('no')));
    const reference = `a\n[paylink] 200\u202e${'x'.repeat(300)}`;
    await receiver.receive(deliver({ reference }), {});
    expect(log.error.mock.calls[0]![1]!.reference).toBe(reference.slice(0, 200));
    expect(log.lines()[0]).toMatch(
      /^\[paylink] 500 handler_failed: "a\\n\[paylink] 200\\u202ex{184}": no$/,
    );
  });

  it('names the kind of an event that is not configured', async () => {
    const log = createLog();
    const handlers = { 'payment.succeeded': noop, unrecognized: throwing(new Error('no')) };
    const receiver = createReceiver({ secret, logger: log }, handlers);
    await receiver.receive(deliver({ type: 'payment.refunded' }), {});
    expect(log.error.mock.calls[0]![1]).toMatchObject({ kind: 'payment.refunded' });
  });

  it(
    'gives only the built-in class of an error of the secret function, because the error can quote the secret',
    { tags: 'B15' },
    async () => {
      const log = createLog();
      const error = Object.assign(new RangeError(`vault refused ${secret}`), { name: secret });
      const provide = () => Promise.reject(error);
      await createReceiver({ secret: provide, logger: log }, noop).receive(deliver(), {});
      expect(log.lines()).toEqual([
        '[paylink] 503 secret_unavailable: the function given as `secret` failed (RangeError)',
      ]);
    },
  );

  it('quotes Paylink’s own message about an invalid answer of the secret function', async () => {
    const log = createLog();
    const provide = () => ({ secret: 'changeme', tenant: null });
    await createReceiver({ secret: provide, logger: log }, noop).receive(deliver(), {});
    expect(log.lines()[0]).toContain('failed (secret is a placeholder');
  });
});

describe('the log of a genuine delivery that is refused before its handler', () => {
  it('has a line for each order, and observe gets the order', async () => {
    const log = createLog();
    const observe = vi.fn();
    const receiver = createReceiver({ secret, logger: log, observe }, noop);
    for (const reference of ['order-1', 'order-2'])
      await receiver.receive(
        deliver({ rawBody: JSON.stringify({ reference, status: 'pending' }) }),
        {},
      );
    expect(log.error.mock.calls).toEqual(
      ['order-1', 'order-2'].map((reference) => [
        expect.stringMatching(
          `^\\[paylink] 503 payment_pending: "${reference}": the event header`,
        ) as string,
        { code: 'payment_pending', status: 503, reference, kind: 'payment.succeeded' },
      ]),
    );
    expect(observe.mock.calls).toMatchObject(
      ['order-1', 'order-2'].map((reference) => [
        { outcome: 'failed', type: 'payment.succeeded', reference, secretIndex: 0 },
      ]),
    );
  });

  it('warns of a fault in the content, without the content', async () => {
    const log = createLog();
    const receiver = createReceiver({ secret, logger: log }, noop);
    for (let time = 0; time < 2; time++) await receiver.receive(deliver({ rawBody: '[1234]' }), {});
    expect(log.warn).toHaveBeenCalledTimes(2);
    expect(log.lines().join()).not.toContain('1234');
  });
});

describe('the log of refused deliveries', () => {
  it.each(['production', 'development'])(
    'starts with a line at once, then one per minute and code with a count, in %s',
    async (environment) => {
      vi.stubEnv('NODE_ENV', environment);
      vi.useFakeTimers({ toFake: ['performance'] });
      const log = createLog();
      const receiver = createReceiver({ secret: PORTAL_SECRET, logger: log }, noop);
      const refuse = () => receiver.receive(deliver({ extra: { 'x-service-signature': 'x' } }), {});
      for (let time = 0; time < 5; time++) await refuse();
      await receiver.receive(deliver({ method: 'GET' }), {});
      vi.advanceTimersByTime(59_999);
      await refuse();
      vi.advanceTimersByTime(1);
      await refuse();
      await refuse();
      vi.advanceTimersByTime(60_000);
      await refuse();
      const line =
        '[paylink] 401 invalid_signature: the signature header is absent, repeated or not 64 ' +
        'lower-case hex digits';
      expect(log.lines()).toEqual([
        line,
        '[paylink] 405 method_not_allowed: expected POST',
        `${line} (and 5 more since the last line)`,
        `${line} (and 1 more since the last line)`,
      ]);
      expect(log.error).not.toHaveBeenCalled();
      expect(log.warn.mock.lastCall![1]).toMatchObject({ code: 'invalid_signature', status: 401 });
    },
  );

  it('has body_consumed as an error, which needs a fix, but no more often', async () => {
    const log = createLog();
    const receiver = createReceiver({ secret, logger: log }, noop);
    const parsed = deliver({ body: () => Promise.resolve({ reference: 'order-42' } as never) });
    for (let time = 0; time < 3; time++) await receiver.receive(parsed, {});
    expect(log.error).toHaveBeenCalledOnce();
    expect(log.lines()[0]).toContain('500 body_consumed: the raw body must be a Uint8Array');
  });

  it('contains no signature, secret or body', async () => {
    const log = createLog();
    const receiver = createReceiver({ secret, logger: log }, noop);
    const { header } = deliver();
    const rawBody = '{"reference":"", "card":"4242"}';
    for (const options of [{ extra: forged }, { rawBody }, { rawBody: '{' }]) {
      await receiver.receive(deliver(options), {});
    }
    expect(log.lines()).toHaveLength(3);
    const text = JSON.stringify([log.warn.mock.calls, log.error.mock.calls]);
    for (const hidden of [secret, header('x-service-signature')!, '4242', '0000']) {
      expect(text).not.toContain(hidden);
    }
  });
});

describe('observe', () => {
  const observing = async (
    deliveries: readonly ReturnType<typeof deliver>[],
    handler: () => unknown,
  ) => {
    const outcomes: DeliveryOutcome[] = [];
    const observe = (outcome: DeliveryOutcome) => outcomes.push(outcome);
    const options = { secret: ['another-secret', secret], logger: createLog(), observe };
    const receiver = createReceiver(options, handler);
    for (const delivery of deliveries) await receiver.receive(delivery, {});
    return outcomes;
  };

  it('gets each delivery once, with labels from fixed sets', { tags: 'J13' }, async () => {
    const left = new WebhookError('incomplete_body', { status: 499 });
    const outcomes = await observing(
      [
        deliver(),
        deliver({ extra: { 'x-service-signature': 'forged' } }),
        deliver({ type: 'other.kind' }),
        deliver({ rawBody: '[]' }),
        deliver({ body: () => Promise.reject(left) }),
        deliver({ body: () => Promise.resolve({} as never) }),
      ],
      noop,
    );
    const proven = { reference: 'order-42', secretIndex: 1, bodyBytes: 24 };
    const durationMs = expect.any(Number) as number;
    expect(outcomes).toStrictEqual([
      { outcome: 'handled', type: 'payment.succeeded', ...proven, durationMs },
      { outcome: 'rejected', code: 'invalid_signature', bodyBytes: 0, durationMs },
      { outcome: 'ignored', type: 'unrecognized', ...proven, durationMs },
      { outcome: 'rejected', code: 'invalid_payload', secretIndex: 1, bodyBytes: 2, durationMs },
      { outcome: 'rejected', code: 'incomplete_body', bodyBytes: 0, durationMs },
      { outcome: 'failed', code: 'body_consumed', bodyBytes: 0, durationMs },
    ]);
  });

  it.each<readonly [string, unknown, string]>([
    ['an Error', new Error('no'), 'handler_failed'],
    ['a WebhookError', new WebhookError('unknown_order', { status: 404 }), 'unknown_order'],
    [
      'a WebhookError with a refusal’s code',
      new WebhookError('invalid_payload'),
      'invalid_payload',
    ],
  ])('reports failed if the handler threw %s', async (_what, thrown, code) => {
    const [outcome] = await observing([deliver()], throwing(thrown));
    expect(outcome).toMatchObject({ outcome: 'failed', code, type: 'payment.succeeded' });
  });

  it('reports the duration of the delivery', async () => {
    vi.useFakeTimers({ toFake: ['performance'] });
    const [outcome] = await observing([deliver()], () => vi.advanceTimersByTime(7) && undefined);
    expect(outcome).toMatchObject({ durationMs: 7 });
  });

  it('gets the accepted, acknowledged and refused deliveries of a gate', async () => {
    const outcomes: string[] = [];
    const observe = ({ outcome }: DeliveryOutcome) => outcomes.push(outcome);
    const gate = createGate({ secret, logger: createLog(), observe });
    await gate.admit(deliver(), {}, {});
    await gate.admit(deliver({ type: 'payment.refunded' }), {}, {});
    await gate.admit(deliver({ extra: forged }), {}, {});
    expect(outcomes).toEqual(['handled', 'ignored', 'rejected']);
  });
});

it.each<readonly [string, () => unknown]>([
  ['throws', throwing(new Error('full'))],
  ['rejects', () => Promise.reject(new Error('full'))],
  ['hangs', () => new Promise(noop)],
  ['has a thenable that throws', () => ({ then: throwing(1) })],
])('a logger, observe and onError change no reply if each %s', async (_what, hook) => {
  const log = { warn: hook, error: hook };
  const hooks = { logger: log, observe: hook, onError: hook };
  const received = createReceiver({ secret, ...hooks }, noop);
  expect(await received.receive(deliver(), {})).toMatchObject({ status: 200 });
  expect(await received.receive(deliver({ extra: forged }), {})).toMatchObject({ status: 401 });
  const failed = createReceiver({ secret, ...hooks }, throwing(new Error('mine')));
  expect(await failed.receive(deliver(), {})).toMatchObject({ status: 500 });
  // A short secret warns in production.
  vi.stubEnv('NODE_ENV', 'production');
  createVerifier({ secret: 'short', logger: log });
});

describe('a log line', () => {
  it('goes to console with the message alone by default', async () => {
    const warn = vi.spyOn(console, 'warn').mockReturnValue(undefined);
    const error = vi.spyOn(console, 'error').mockReturnValue(undefined);
    vi.stubEnv('NODE_ENV', 'production');
    const receiver = createReceiver(
      { secret: PORTAL_SECRET },
      throwing(new WebhookError('orders_unavailable')),
    );
    await receiver.receive(deliver({ extra: forged }), {});
    await receiver.receive(deliver({ secret: PORTAL_SECRET }), {});
    expect(warn.mock.calls).toEqual([[expect.stringContaining('401 invalid_signature')]]);
    expect(error.mock.calls).toEqual([[expect.stringContaining('503 orders_unavailable')]]);
  });

  it('ends with the page that a release was built with, without a second full stop', async () => {
    vi.stubGlobal('PAYLINK_ERRORS_PAGE', 'https://docs.example/errors');
    vi.resetModules();
    const built = await import('../src/logger.js');
    const line =
      '[paylink] 503 orders_unavailable: vault.example is busy. ' +
      'See https://docs.example/errors#orders_unavailable';
    for (const message of ['vault.example is busy', 'vault.example is busy.'])
      expect(built.logLine(new WebhookError('orders_unavailable', { message }))).toBe(line);
  });
});
