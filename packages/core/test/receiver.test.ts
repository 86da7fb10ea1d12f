import { afterEach, describe, expect, it, vi } from 'vitest';
import { signedDelivery } from '@paylink/testing';
import { z } from 'zod';
import { createReceiver, memoryStore, WebhookError, type DeliveryOutcome } from '../src/index.js';
import { deliver, hang, received, secret } from './deliver.js';
import { expire, hanging } from './expiry.js';

const logger = { warn: vi.fn(), error: vi.fn() };

afterEach(() => {
  vi.clearAllMocks();
});

describe('before the body', () => {
  const refusals: readonly [string, Parameters<typeof deliver>[0], number, string][] = [
    ['a method that is not POST (D18)', { method: 'GET' }, 405, 'method_not_allowed'],
    ['a declared length over the limit (D03)', { extra: { 'content-length': '65537' } }, 413, 'body_too_large'],
    ['a declared length that is no number (D03)', { extra: { 'content-length': 'many' } }, 413, 'body_too_large'],
    ['a missing signature (A01)', { extra: { 'x-service-signature': undefined } }, 401, 'invalid_signature'],
    ['a signature that is not spelt as one (A03)', { extra: { 'x-service-signature': 'a, a' } }, 401, 'invalid_signature'],
    ['gzip (D12)', { extra: { 'content-encoding': 'gzip' } }, 415, 'unsupported_encoding'],
    ['two encodings (D12)', { extra: { 'content-encoding': 'identity, br' } }, 415, 'unsupported_encoding'],
  ];
  it.each(refusals)('%s is refused without reading it', async (_, options, status, code) => {
    const body = vi.fn(() => Promise.resolve(new Uint8Array()));
    const handler = vi.fn();
    const reply = await createReceiver({ secret, logger }, handler).receive(deliver({ ...options, body }), {});
    expect(reply).toMatchObject({ status, body: `{"error":"${code}"}`, headers: { 'content-type': 'application/json' } });
    expect(body).not.toHaveBeenCalled();
    expect(handler).not.toHaveBeenCalled();
  });

  it.each(['identity', 'Identity', ''])('accepts the encoding %j (D14)', async (encoding) => {
    const reply = await createReceiver({ secret }, () => undefined).receive(
      deliver({ extra: { 'content-encoding': encoding } }),
      {},
    );
    expect(reply).toMatchObject(received);
  });

  it('refuses every wrong signature with the same reply (J02)', async () => {
    const receiver = createReceiver({ secret }, () => undefined);
    const values = [undefined, '', 'ab', 'z'.repeat(64), '0'.repeat(64), signedDelivery({ secret: 'another-secret' }).signature];
    const replies = await Promise.all(
      values.map((value) => receiver.receive(deliver({ extra: { 'x-service-signature': value } }), {})),
    );
    for (const reply of replies) {
      expect(reply).toEqual({
        status: 401,
        headers: { 'content-type': 'application/json', 'www-authenticate': 'Signature' },
        body: '{"error":"invalid_signature"}',
      });
    }
  });
});

describe('a refusal', () => {
  const refusedTwice = async (): Promise<void> => {
    const receiver = createReceiver({ secret, logger }, () => undefined);
    for (const value of [undefined, undefined, '0'.repeat(64), '1'.repeat(64)]) {
      await receiver.receive(deliver({ extra: { 'x-service-signature': value } }), {});
    }
  };

  it('is logged once for each cause, so that a developer sees what to fix', async () => {
    await refusedTwice();
    // What comes behind the replies is tested with the diagnosis.
    const lines = logger.warn.mock.calls.filter(([line]) => !String(line).includes('why the signature does not match'));
    expect(lines).toEqual([
      [
        '[paylink] 401 invalid_signature: the signature header is absent, repeated or not 64 lower-case hex digits. See docs/errors.md#invalid_signature',
      ],
      [
        '[paylink] 401 invalid_signature: the signature does not match: another secret, or the body was changed on its way. See docs/errors.md#invalid_signature',
      ],
    ]);
  });

  it('is silent in production (J12)', async () => {
    vi.stubEnv('NODE_ENV', 'production');
    const receiver = createReceiver({ secret: 'a-secret-of-the-portal', logger }, () => undefined);
    await receiver.receive(deliver({ extra: { 'x-service-signature': 'forged' } }), {});
    expect(logger.warn).not.toHaveBeenCalled();
    expect(logger.error).not.toHaveBeenCalled();
    vi.unstubAllEnvs();
  });
});

describe('the body', () => {
  it('of exactly the limit is read, and one byte more is 413, whatever the adapter did (D05)', async () => {
    const rawBody = JSON.stringify({ reference: 'a' });
    const exact = createReceiver({ secret, bodyLimit: rawBody.length }, () => undefined);
    const under = createReceiver({ secret, bodyLimit: rawBody.length - 1 }, () => undefined);
    expect(await exact.receive(deliver({ rawBody }), {})).toMatchObject(received);
    const declared = { 'content-length': String(rawBody.length) };
    expect(await exact.receive(deliver({ rawBody, extra: declared }), {})).toMatchObject(received);
    expect(await under.receive(deliver({ rawBody }), {})).toMatchObject({ status: 413 });
  });

  it('that an adapter gives as anything but bytes is 500 body_consumed (F03)', async () => {
    const body = (): Promise<Uint8Array> => Promise.resolve({ reference: 'order-42' } as never);
    const reply = await createReceiver({ secret, logger }, () => undefined).receive(deliver({ body }), {});
    expect(reply).toMatchObject({ status: 500, body: '{"error":"body_consumed"}' });
    expect(logger.error).toHaveBeenCalledWith(expect.stringMatching(/^\[paylink\] 500 body_consumed: the raw body must be/));
  });

  it('is asked for with the limits of the options', async () => {
    const body = vi.fn(() => Promise.resolve(signedDelivery().rawBody as Uint8Array));
    await createReceiver({ secret, bodyLimit: 100, bodyTimeout: 200 }, () => undefined).receive(deliver({ body }), {});
    expect(body).toHaveBeenCalledExactlyOnceWith({ bodyLimit: 100, bodyTimeout: 200 });
  });
});

describe('a signed status that contradicts the header', () => {
  it.each([
    ['failed', 400, 'event_contradicted'],
    ['cancelled', 400, 'event_contradicted'],
    ['pending', 503, 'payment_pending'],
  ])('is refused where no service is asked: %s (C24)', async (status, code, error) => {
    const handler = vi.fn();
    const reply = await createReceiver({ secret, logger }, handler).receive(deliver({ payload: { status } }), {});
    expect(reply).toMatchObject({ status: code, body: `{"error":"${error}"}` });
    expect(handler).not.toHaveBeenCalled();
  });
});

describe('handlers', () => {
  it('get the event and the context of the host', async () => {
    const handler = vi.fn();
    await createReceiver({ secret }, handler).receive(deliver(), { req: 1, signal: 'of the host' });
    expect(handler).toHaveBeenCalledExactlyOnceWith(
      expect.objectContaining({ type: 'payment.succeeded', reference: 'order-42' }),
      expect.anything(),
    );
    const context = handler.mock.calls[0]![1] as Record<string, unknown>;
    expect(Object.keys(context).sort()).toEqual(['req', 'signal']);
    expect({ ...context }['signal']).toBeInstanceOf(AbortSignal);
  });

  it('acknowledge with exactly this reply', async () => {
    expect(await createReceiver({ secret }, () => 'value').receive(deliver(), {})).toEqual({
      status: 200,
      headers: { 'content-type': 'application/json' },
      body: '{"received":true}',
      value: 'value',
    });
  });

  it('get the host’s means to respond, but not under a store: nothing may be sent before the commit', async () => {
    const handler = vi.fn();
    await createReceiver({ secret }, handler).receive(deliver(), { req: 1 }, { res: 2 });
    await createReceiver({ secret, idempotency: memoryStore() }, handler).receive(deliver(), { req: 1 }, { res: 2 });
    expect(handler.mock.calls[0]![1]).toMatchObject({ req: 1, res: 2 });
    expect(handler.mock.calls[1]![1]).toMatchObject({ req: 1 });
    expect(handler.mock.calls[1]![1]).not.toHaveProperty('res');
  });

  it('leave kinds that are not configured alone: 200, ignored (E04)', async () => {
    const handler = vi.fn();
    const observe = vi.fn();
    for (const handlers of [handler, { 'payment.succeeded': handler }]) {
      expect(await createReceiver({ secret, observe }, handlers).receive(deliver({ type: 'payment.refunded' }), {})).toMatchObject(
        received,
      );
    }
    expect(handler).not.toHaveBeenCalled();
    expect(observe).toHaveBeenCalledTimes(2);
    expect(observe).toHaveBeenCalledWith(expect.objectContaining({ outcome: 'ignored', type: 'unrecognized' }));
  });

  it('see kinds that are not configured where the map has `unrecognized`', async () => {
    const unrecognized = vi.fn();
    await createReceiver({ secret }, { 'payment.succeeded': () => undefined, unrecognized }).receive(
      deliver({ type: 'payment.refunded' }),
      {},
    );
    expect(unrecognized).toHaveBeenCalledExactlyOnceWith(expect.objectContaining({ kind: 'payment.refunded' }), expect.anything());
  });

  it('of a configured kind without an entry are left out: 200, ignored', async () => {
    const events = { 'payment.refunded': z.object({ reference: z.string() }) };
    const observe = vi.fn();
    const receiver = createReceiver({ secret, events, observe }, { 'payment.succeeded': () => undefined });
    expect(await receiver.receive(deliver({ type: 'payment.refunded' }), {})).toMatchObject(received);
    expect(observe).toHaveBeenCalledExactlyOnceWith(expect.objectContaining({ outcome: 'ignored', type: 'payment.refunded' }));
  });

  it.each(['constructor', '__proto__', 'unrecognized', 'hasownproperty'])(
    'are never looked up by an inherited name: %s',
    async (type) => {
      const handlers = { 'payment.succeeded': vi.fn() };
      expect(await createReceiver({ secret }, handlers).receive(deliver({ type }), {})).toMatchObject(received);
      expect(handlers['payment.succeeded']).not.toHaveBeenCalled();
    },
  );

  it('are copied at set-up', async () => {
    const first = vi.fn();
    const handlers = { 'payment.succeeded': first };
    const receiver = createReceiver({ secret }, handlers);
    handlers['payment.succeeded'] = vi.fn();
    await receiver.receive(deliver(), {});
    expect(first).toHaveBeenCalledOnce();
  });

  it('may return a thenable that is no promise, and calls only what it is given', async () => {
    const careless = { then: (fulfilled: (value: string) => void) => fulfilled('value') };
    expect(await createReceiver({ secret }, () => careless).receive(deliver(), {})).toMatchObject({ ...received, value: 'value' });
  });

  it('give their value to the adapter', async () => {
    const reply = await createReceiver({ secret }, () => Promise.resolve('value')).receive(deliver(), {});
    expect(reply).toMatchObject({ ...received, value: 'value' });
  });

  it('that are given as an option are said to be the second argument', () => {
    const given = { secret, handlers: () => undefined };
    expect(() => createReceiver(given)).toThrow(
      'handlers is the second argument, not an option: paymentWebhook({ secret }, handlers)',
    );
  });

  it.each([
    ['undefined', undefined, 'handlers must be a function or a map'],
    ['null', null, 'handlers must be a function or a map'],
    ['an empty map', {}, "handlers['payment.succeeded'] is missing"],
    ['a map without payment.succeeded', { unrecognized: () => undefined }, "handlers['payment.succeeded'] is missing"],
    [
      'a map with a misspelt kind',
      { 'payment.succeded': () => undefined },
      "handlers['payment.succeded'] is for no configured kind: did you mean 'payment.succeeded'? Configured kinds: payment.succeeded;",
    ],
    [
      'a map with the status of a payment for a kind',
      { 'payment.success': () => undefined },
      "handlers['payment.success'] is for no configured kind: did you mean 'payment.succeeded'?",
    ],
    [
      'a map with a kind unlike all',
      { 'charge.paid': () => undefined },
      "handlers['charge.paid'] is for no configured kind. Configured kinds: payment.succeeded; others need `events`",
    ],
    ['a map with a value that is no function', { 'payment.succeeded': 1 }, "handlers['payment.succeeded'] must be a function"],
    [
      'a map with an undefined value',
      { 'payment.succeeded': () => undefined, unrecognized: undefined },
      "handlers['unrecognized'] must be a function",
    ],
  ])('that are %s throw at set-up', (_, handlers, message) => {
    expect(() => createReceiver({ secret }, handlers as never)).toThrow(message);
  });
});

describe('what a handler throws', () => {
  it('is thrown on as the same object, for the host’s error handling (G01, G05)', async () => {
    const error = new RangeError('mine');
    for (const handler of [
      () => {
        throw error;
      },
      () => Promise.reject(error),
    ]) {
      await expect(createReceiver({ secret }, handler).receive(deliver(), {})).rejects.toBe(error);
    }
  });

  it.each(['text', undefined, null, 42, { message: 'like an error' }])(
    'is wrapped in an Error when it is not one: %j',
    async (thrown) => {
      for (const handler of [
        () => {
          throw thrown;
        },
        () => Promise.reject(thrown),
      ]) {
        const error: unknown = await createReceiver({ secret }, handler)
          .receive(deliver(), {})
          .catch((caught: unknown) => caught);
        expect(error).toBeInstanceOf(Error);
        expect((error as Error).cause).toBe(thrown);
      }
    },
  );

  it('is answered by us when it is a WebhookError: with its own code and status (H10)', async () => {
    const observe = vi.fn();
    const receiver = createReceiver({ secret, observe, logger }, () => {
      throw new WebhookError('unknown_order', { status: 503 });
    });
    expect(await receiver.receive(deliver(), {})).toMatchObject({
      status: 503,
      body: '{"error":"unknown_order"}',
      headers: { 'retry-after': '5' },
    });
    expect(observe).toHaveBeenCalledExactlyOnceWith(expect.objectContaining({ outcome: 'failed', code: 'unknown_order' }));
    expect(logger.error).not.toHaveBeenCalled();
  });
});

it('reports what a handler refuses as failed, with any status, and logs no refusal that the handler chose', async () => {
  const observe = vi.fn();
  let thrown: WebhookError = new WebhookError('unknown_order', { status: 404 });
  const receiver = createReceiver({ secret, observe, logger }, () => {
    throw thrown;
  });
  expect(await receiver.receive(deliver(), {})).toMatchObject({ status: 404, body: '{"error":"unknown_order"}' });
  thrown = new WebhookError('invalid_payload');
  expect(await receiver.receive(deliver(), {})).toMatchObject({ status: 400, body: '{"error":"invalid_payload"}' });
  expect(observe.mock.calls).toEqual([
    [expect.objectContaining({ outcome: 'failed', code: 'unknown_order' })],
    [expect.objectContaining({ outcome: 'failed', code: 'invalid_payload' })],
  ]);
  expect(logger.warn).not.toHaveBeenCalled();
  expect(logger.error).not.toHaveBeenCalled();
});

describe('what nothing in a delivery tells apart', () => {
  it('credits once for two payments of one link: the body names the order and not the payment (H06)', async () => {
    const handler = vi.fn();
    const receiver = createReceiver({ secret, idempotency: memoryStore() }, handler);
    for (const payment of ['first', 'second']) {
      const options = { reference: 'order-42', payload: { payment } };
      expect(await receiver.receive(deliver(options), {})).toMatchObject(received);
    }
    expect(handler).toHaveBeenCalledOnce();
  });

  it('takes a delivery of staging for genuine only under the same secret, and then its order is the handler’s to refuse (H09)', async () => {
    const orders = new Set(['order-of-production']);
    const handler = vi.fn(({ reference }: { readonly reference: string }) => {
      if (!orders.has(reference)) throw new WebhookError('unknown_order', { status: 404 });
    });
    const ofStaging = deliver({ secret: 'a-secret-of-staging', reference: 'order-of-staging' });
    const apart = createReceiver({ secret: 'a-secret-of-production', logger }, handler);
    expect(await apart.receive(ofStaging, {})).toMatchObject({ status: 401 });
    expect(handler).not.toHaveBeenCalled();
    const shared = createReceiver({ secret: 'a-secret-of-staging', logger }, handler);
    expect(await shared.receive(ofStaging, {})).toMatchObject({ status: 404, body: '{"error":"unknown_order"}' });
  });
});

describe('handlerTimeout', () => {
  it('answers 503 and aborts the signal when the handler hangs (G03, G06)', async () => {
    let signal: AbortSignal | undefined;
    const { hang, begun } = hanging();
    const receiver = createReceiver({ secret, handlerTimeout: 50, logger }, (_event, context) => {
      signal = context.signal;
      return hang();
    });
    const intact = begun.then(() => expect(signal?.aborted).toBe(false));
    expect(await expire(intact, 50, () => receiver.receive(deliver(), {}))).toMatchObject({
      status: 503,
      body: '{"error":"handler_timeout"}',
    });
    expect(signal?.aborted).toBe(true);
    expect(signal?.reason).toMatchObject({ code: 'handler_timeout' });
  });

  it('swallows what a handler throws after it', async () => {
    let thrown = false;
    const receiver = createReceiver({ secret, handlerTimeout: 10, logger }, async () => {
      await new Promise((resolve) => setTimeout(resolve, 50));
      thrown = true;
      throw new Error('late');
    });
    expect(await receiver.receive(deliver(), {})).toMatchObject({ status: 503 });
    await vi.waitUntil(() => thrown, 10_000);
    // An unhandled rejection would fail the run.
    await new Promise((resolve) => setImmediate(resolve));
  });

  it('gives an aborted signal to a handler that asks for it late', async () => {
    let late: AbortSignal | undefined;
    const receiver = createReceiver({ secret, handlerTimeout: 10, logger }, async (_event, context) => {
      await new Promise((resolve) => setTimeout(resolve, 50));
      late = context.signal;
    });
    await receiver.receive(deliver(), {});
    await vi.waitUntil(() => late !== undefined, 10_000);
    expect(late?.aborted).toBe(true);
  });
});

describe('confirm', () => {
  const source = (payment: unknown) => ({
    getPayment: vi.fn((_reference: string) => Promise.resolve(payment as { reference: string; status: string })),
  });

  it('lets the handler run when the service says success, with the payment in its context', async () => {
    const payment = { reference: 'order-42', status: 'success', amount: 5000 };
    const handler = vi.fn();
    const confirm = source(payment);
    expect(await createReceiver({ secret, confirm }, handler).receive(deliver(), {})).toMatchObject(received);
    expect(confirm.getPayment).toHaveBeenCalledExactlyOnceWith('order-42', { signal: expect.any(AbortSignal) as AbortSignal });
    expect(handler.mock.calls[0]![1]).toMatchObject({ payment });
  });

  it.each([
    ['pending', { reference: 'order-42', status: 'pending' }, 503, 'payment_pending'],
    ['another payment', { reference: 'order-43', status: 'success' }, 503, 'confirm_unavailable'],
    ['an unknown status (L12)', { reference: 'order-42', status: 'succeeded' }, 503, 'confirm_unavailable'],
    ['nothing', undefined, 503, 'confirm_unavailable'],
    ['null', null, 503, 'confirm_unavailable'],
    ['a text', 'success', 503, 'confirm_unavailable'],
  ])('that says %s runs no handler (E06)', async (_, payment, status, code) => {
    const handler = vi.fn();
    const reply = await createReceiver({ secret, confirm: source(payment), logger }, handler).receive(deliver(), {});
    expect(reply).toMatchObject({ status, body: `{"error":"${code}"}` });
    expect(handler).not.toHaveBeenCalled();
  });

  it.each(['failed', 'cancelled'])(
    'that says %s is 200, ignored and not marked: it may still succeed later (E06)',
    async (status) => {
      const payment = { reference: 'order-42', status };
      const handler = vi.fn();
      const observe = vi.fn();
      const receiver = createReceiver({ secret, confirm: source(payment), idempotency: memoryStore(), observe }, handler);
      expect(await receiver.receive(deliver(), {})).toMatchObject(received);
      expect(observe).toHaveBeenCalledWith(expect.objectContaining({ outcome: 'ignored' }));
      payment.status = 'success';
      expect(await receiver.receive(deliver(), {})).toMatchObject(received);
      expect(handler).toHaveBeenCalledOnce();
    },
  );

  it('that fails or hangs is 503 confirm_unavailable', async () => {
    const failing = { getPayment: () => Promise.reject<{ reference: string; status: string }>(new Error('ECONNREFUSED')) };
    expect(await createReceiver({ secret, confirm: failing, logger }, () => undefined).receive(deliver(), {})).toMatchObject({
      status: 503,
    });
    expect(logger.error).toHaveBeenCalledWith(
      '[paylink] 503 confirm_unavailable: the payment could not be read (Error: ECONNREFUSED). See docs/errors.md#confirm_unavailable',
    );
    const handler = vi.fn();
    const { hang, begun } = hanging();
    const receiver = createReceiver({ secret, confirm: { getPayment: hang }, handlerTimeout: 20, logger }, handler);
    const reply = await expire(begun, 20, () => receiver.receive(deliver(), {}));
    expect(reply).toMatchObject({ status: 503, body: '{"error":"confirm_unavailable"}' });
    expect(handler).not.toHaveBeenCalled();
  });

  it('is asked for payment.succeeded only', async () => {
    const confirm = source(undefined);
    const events = { 'payment.refunded': z.object({ reference: z.string() }) };
    const handler = vi.fn();
    await createReceiver({ secret, confirm, events }, handler).receive(deliver({ type: 'payment.refunded' }), {});
    expect(confirm.getPayment).not.toHaveBeenCalled();
    expect(handler).toHaveBeenCalledOnce();
  });

  it('decides in place of the signed status, which is only observed (C24)', async () => {
    const observe = vi.fn();
    const confirm = source({ reference: 'order-42', status: 'success' });
    const handler = vi.fn();
    const receiver = createReceiver({ secret, confirm, observe }, handler);
    expect(await receiver.receive(deliver({ payload: { status: 'failed' } }), {})).toMatchObject(received);
    expect(handler).toHaveBeenCalledOnce();
    expect(observe).toHaveBeenCalledExactlyOnceWith(expect.objectContaining({ outcome: 'handled', code: 'event_contradicted' }));
  });

  it('that hung until the deadline starts no handler when it answers at last', async () => {
    const handler = vi.fn();
    let answer!: (payment: { reference: string; status: string }) => void;
    const { hang, begun } = hanging();
    const answered = new Promise<{ reference: string; status: string }>((resolve) => (answer = resolve));
    const confirm = { getPayment: () => Promise.race([hang(), answered]) };
    const receiver = createReceiver({ secret, confirm, handlerTimeout: 20, logger }, handler);
    expect(await expire(begun, 20, () => receiver.receive(deliver(), {}))).toMatchObject({ status: 503 });
    answer({ reference: 'order-42', status: 'success' });
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(handler).not.toHaveBeenCalled();
  });
});

describe('a gate', () => {
  it('hands a configured event on, and replies to anything else', async () => {
    const gate = createReceiver({ secret });
    expect((await gate.admit(deliver(), {})).event).toMatchObject({ type: 'payment.succeeded', reference: 'order-42' });
    expect((await gate.admit(deliver({ type: 'payment.refunded' }), {})).reply).toMatchObject(received);
    expect((await gate.admit(deliver({ extra: { 'x-service-signature': 'x' } }), {})).reply).toMatchObject({ status: 401 });
  });

  it("passes other kinds on with `unrecognized: 'pass'`", async () => {
    const gate = createReceiver({ secret, unrecognized: 'pass' });
    expect((await gate.admit(deliver({ type: 'payment.refunded' }), {})).event).toMatchObject({
      type: 'unrecognized',
      kind: 'payment.refunded',
    });
  });

  it.each(['confirm', 'idempotency', 'handlerTimeout'])('refuses %s, which needs a handler to run around', (option) => {
    expect(() => createReceiver({ secret, [option]: memoryStore() })).toThrow(`${option} is an unknown option`);
  });

  it('reports what it handed on, ignored and refused, and so does `verify` (J13)', async () => {
    const outcomes: DeliveryOutcome[] = [];
    const gate = createReceiver({ secret, logger, observe: (outcome) => outcomes.push(outcome) });
    const forged = deliver({ extra: { 'x-service-signature': 'x' } });
    for (const delivery of [deliver(), deliver({ type: 'payment.refunded' }), forged]) await gate.admit(delivery, {});
    await gate.verify(deliver());
    await gate.verify(forged).catch(() => undefined);
    expect(outcomes.map(({ outcome, code }) => [outcome, code])).toEqual([
      ['handled', undefined],
      ['ignored', undefined],
      ['rejected', 'invalid_signature'],
      ['handled', undefined],
      ['rejected', 'invalid_signature'],
    ]);
  });

  it('warns once that nothing stands behind it', () => {
    const gate = createReceiver({ secret, logger });
    gate.warnUnanswered();
    gate.warnUnanswered();
    expect(logger.warn).toHaveBeenCalledExactlyOnceWith(expect.stringContaining('nothing stands behind the gate'));
  });

  it('verifies by `verify`, which gives the event of any kind or throws', async () => {
    for (const { verify } of [createReceiver({ secret }), createReceiver({ secret }, () => undefined)]) {
      await expect(verify(deliver({ type: 'payment.refunded' }))).resolves.toMatchObject({ type: 'unrecognized' });
      await expect(verify(deliver({ extra: { 'x-service-signature': 'x' } }))).rejects.toMatchObject({ code: 'invalid_signature' });
    }
  });
});

describe('observe', () => {
  it('is called once for each delivery, with labels from fixed sets (J13)', async () => {
    const outcomes: DeliveryOutcome[] = [];
    const receiver = createReceiver(
      { secret: ['another-secret', secret], observe: (outcome) => outcomes.push(outcome) },
      () => undefined,
    );
    await receiver.receive(deliver(), {});
    await receiver.receive(deliver({ extra: { 'x-service-signature': 'forged' } }), {});
    await receiver.receive(deliver({ type: 'other.kind' }), {});
    await receiver.receive(deliver({ rawBody: '[]' }), {});
    expect(outcomes).toEqual([
      {
        outcome: 'handled',
        type: 'payment.succeeded',
        reference: 'order-42',
        secretIndex: 1,
        bodyBytes: 24,
        durationMs: expect.any(Number) as number,
      },
      { outcome: 'rejected', code: 'invalid_signature', bodyBytes: 0, durationMs: expect.any(Number) as number },
      {
        outcome: 'ignored',
        type: 'unrecognized',
        reference: 'order-42',
        secretIndex: 1,
        bodyBytes: 24,
        durationMs: expect.any(Number) as number,
      },
      { outcome: 'rejected', code: 'invalid_payload', bodyBytes: 2, durationMs: expect.any(Number) as number },
    ]);
  });

  it.each([
    [
      'throws',
      () => {
        throw new Error('hook');
      },
    ],
    ['rejects', () => Promise.reject(new Error('hook'))],
    ['hangs', hang],
  ])('changes nothing when it %s', async (_, observe) => {
    expect(await createReceiver({ secret, observe }, () => undefined).receive(deliver(), {})).toMatchObject(received);
  });
});
