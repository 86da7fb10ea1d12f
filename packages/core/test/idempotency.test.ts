import { afterEach, describe, expect, it, vi } from 'vitest';
import { createHash } from 'node:crypto';
import { createReceiver, memoryStore, WebhookError, type DeliveryOutcome, type IdempotencyStore } from '../src/index.js';
import { identify, isDone, runOnce } from '../src/idempotency.js';
import { deliver, hang, received, secret } from './deliver.js';
import { expire, hanging } from './expiry.js';

const logger = { warn: vi.fn(), error: vi.fn() };
const { signal } = new AbortController();
const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');

afterEach(() => {
  vi.clearAllMocks();
});

describe('idempotency', () => {
  const KEY = /^[0-9a-f]{64}$/;
  const storeOf = (
    run: IdempotencyStore['run'],
    isDone: IdempotencyStore['isDone'] = () => Promise.resolve(false),
  ): IdempotencyStore => ({ run, isDone });

  it('credits once for one kind and reference, whatever else the body says (H01, H03, H04)', async () => {
    const handler = vi.fn();
    const observe = vi.fn();
    const receiver = createReceiver({ secret, idempotency: memoryStore(), observe }, handler);
    for (const payload of [{}, {}, { extra: 1 }]) expect(await receiver.receive(deliver({ payload }), {})).toMatchObject(received);
    expect(handler).toHaveBeenCalledOnce();
    expect(observe.mock.calls.map(([outcome]) => (outcome as DeliveryOutcome).outcome)).toEqual([
      'handled',
      'duplicate',
      'duplicate',
    ]);
    await receiver.receive(deliver({ reference: 'order-43' }), {});
    expect(handler).toHaveBeenCalledTimes(2);
  });

  it('credits once for 100 deliveries at once; the others get 503, and are duplicates when they are sent again (H02)', async () => {
    let credits = 0;
    let release!: () => void;
    const allOthersAnswered = new Promise<void>((resolve) => (release = resolve));
    const receiver = createReceiver({ secret, idempotency: memoryStore(), logger }, async () => {
      await allOthersAnswered;
      credits += 1;
    });
    let answered = 0;
    const send = async () => {
      const reply = await receiver.receive(deliver(), {});
      if (++answered === 99) release();
      return reply;
    };
    const replies = await Promise.all(Array.from({ length: 100 }, send));
    expect(credits).toBe(1);
    expect(replies.filter(({ status }) => status === 200)).toHaveLength(1);
    expect(replies.filter(({ body }) => body === '{"error":"in_progress"}')).toHaveLength(99);
    expect(await receiver.receive(deliver(), {})).toMatchObject(received);
    expect(credits).toBe(1);
  });

  it('gives the store the SHA-256 of kind and reference, or of the merchant’s own key', async () => {
    const keys: string[] = [];
    const store = storeOf(async (key, work) => {
      keys.push(key);
      await work({});
      return 'done';
    });
    await createReceiver({ secret, idempotency: store }, () => undefined).receive(deliver({ reference: 'x'.repeat(10_000) }), {});
    await createReceiver({ secret, idempotency: { store, key: ({ reference }) => `own-${reference}` } }, () => undefined).receive(
      deliver(),
      {},
    );
    expect(keys).toEqual([expect.stringMatching(KEY), expect.stringMatching(KEY)]);
    expect(new Set(keys).size).toBe(2);
  });

  it('gives an unrecognized event the key of the kind that was sent', async () => {
    const run = vi.fn<IdempotencyStore['run']>(async (_key, work) => {
      await work({});
      return 'done';
    });
    const handlers = { 'payment.succeeded': () => undefined, unrecognized: () => undefined };
    const receiver = createReceiver({ secret, idempotency: storeOf(run) }, handlers);
    for (const type of ['payment.refunded', 'payment.disputed']) await receiver.receive(deliver({ type }), {});
    const keys = await Promise.all(
      ['payment.refunded', 'payment.disputed'].map((kind) => identify({ kind, reference: 'order-42' })),
    );
    expect(run.mock.calls.map(([key]) => key)).toEqual(keys.map(({ key }) => key));
  });

  it.each(['', undefined, 42, null, 'order \ud800'])(
    'runs nothing under the key %j of the merchant’s own function',
    async (identity) => {
      const run = vi.fn();
      const handler = vi.fn();
      const idempotency = { store: storeOf(run as never), key: () => identity as string };
      await expect(createReceiver({ secret, idempotency, logger }, handler).receive(deliver(), {})).rejects.toThrow(
        'idempotency.key must give a string that is not empty',
      );
      expect(run).not.toHaveBeenCalled();
      expect(handler).not.toHaveBeenCalled();
    },
  );

  it('gives the merchant’s own function what the host gives, and no tenant where there is none', async () => {
    const key = vi.fn(() => 'own');
    await createReceiver({ secret, idempotency: { store: memoryStore(), key } }, () => undefined).receive(deliver(), { req: 1 });
    expect(key.mock.calls).toStrictEqual([[expect.objectContaining({ reference: 'order-42' }), { req: 1 }]]);
  });

  it('leaves no mark when the handler throws, and throws the same object', async () => {
    const error = new Error('no');
    let fail = true;
    const receiver = createReceiver({ secret, idempotency: memoryStore() }, () => {
      if (fail) throw error;
    });
    await expect(receiver.receive(deliver(), {})).rejects.toBe(error);
    fail = false;
    const observe = vi.fn();
    expect(await receiver.receive(deliver(), {})).toMatchObject(received);
    expect(observe).not.toHaveBeenCalled();
  });

  it('hands the scope of the store to the handler', async () => {
    const store: IdempotencyStore<{ tx: string }> = {
      isDone: () => Promise.resolve(false),
      run: async (_key, work) => {
        await work({ tx: 'transaction' });
        return 'done';
      },
    };
    const handler = vi.fn();
    await createReceiver({ secret, idempotency: store }, handler).receive(deliver(), { req: 1 });
    const context = handler.mock.calls[0]![1] as object;
    expect(context).toMatchObject({ tx: 'transaction', req: 1 });
    expect(Object.keys(context).sort()).toEqual(['req', 'signal', 'tx']);
  });

  const down = (): Promise<never> => Promise.reject(new Error('ECONNREFUSED'));
  const broken: readonly [string, IdempotencyStore][] = [
    ['cannot tell whether a key is done (I01)', storeOf(() => Promise.resolve('done'), down)],
    [
      'tells it with no boolean (I01)',
      storeOf(
        () => Promise.resolve('done'),
        () => Promise.resolve(undefined as never),
      ),
    ],
    ['fails before the work (I01)', storeOf(down)],
    [
      'fails after the work (I02)',
      storeOf(async (_key, work) => {
        await work({});
        return down();
      }),
    ],
    ['says done without having run the work', storeOf(() => Promise.resolve('done'))],
    [
      'says done for work that failed',
      storeOf(async (_key, work) => {
        await work({}).catch(() => undefined);
        return 'done';
      }),
    ],
    [
      'says something else',
      storeOf(async (_key, work) => {
        await work({});
        return 'ok' as never;
      }),
    ],
    [
      'throws at once',
      storeOf(() => {
        throw new Error('broken');
      }),
    ],
  ];
  it.each(broken)('of a store that %s is 503 store_unavailable, never a 2xx', async (what, idempotency) => {
    const handler = what.includes('failed')
      ? () => {
          throw new Error('handler');
        }
      : () => undefined;
    const reply = await createReceiver({ secret, idempotency, logger }, handler).receive(deliver(), {});
    expect(reply).toMatchObject({ status: 503, body: '{"error":"store_unavailable"}' });
  });

  it('may run the work again, and then the last run counts (I12)', async () => {
    const store = storeOf(async (_key, work) => {
      await work({}).catch(() => undefined);
      await work({});
      return 'done';
    });
    let tries = 0;
    const receiver = createReceiver({ secret, idempotency: store }, () => {
      tries += 1;
      if (tries === 1) throw new Error('40001');
    });
    expect(await receiver.receive(deliver(), {})).toMatchObject(received);
  });

  it('of a store that hangs is 503 at the deadline, and its late answer runs nothing (I06)', async () => {
    const handler = vi.fn();
    let answer!: (done: boolean) => void;
    const { hang, begun } = hanging();
    const slow = storeOf(
      async (_key, work) => {
        await work({});
        return 'done';
      },
      () => Promise.race([hang(), new Promise<boolean>((resolve) => (answer = resolve))]),
    );
    // Asked before the service is.
    const confirm = { getPayment: () => Promise.reject(new Error('asked')) };
    const options = { secret, idempotency: slow, confirm, handlerTimeout: 20, logger };
    const reply = await expire(begun, 20, () => createReceiver(options, handler).receive(deliver(), {}));
    answer(false);
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(reply).toMatchObject({ status: 503, body: '{"error":"store_unavailable"}' });
    expect(handler).not.toHaveBeenCalled();
  });

  it('of a store that hangs before the work is 503 store_unavailable: no handler was slow (I06)', async () => {
    const { hang, begun } = hanging();
    const handler = vi.fn();
    const receiver = createReceiver({ secret, idempotency: storeOf(hang), handlerTimeout: 20, logger }, handler);
    const reply = await expire(begun, 20, () => receiver.receive(deliver(), {}));
    expect(reply).toMatchObject({ status: 503, body: '{"error":"store_unavailable"}' });
    expect(handler).not.toHaveBeenCalled();
  });

  it('asks whether a key is done only where that saves a question to the service', async () => {
    const isDone = vi.fn(() => Promise.resolve(true));
    const run = vi.fn(() => Promise.resolve('duplicate' as const));
    const options = { secret, idempotency: storeOf(run, isDone) };
    expect(await createReceiver(options, () => undefined).receive(deliver(), {})).toMatchObject(received);
    expect([isDone.mock.calls.length, run.mock.calls.length]).toEqual([0, 1]);
    const getPayment = vi.fn();
    expect(await createReceiver({ ...options, confirm: { getPayment } }, () => undefined).receive(deliver(), {})).toMatchObject(
      received,
    );
    expect([isDone.mock.calls.length, run.mock.calls.length, getPayment.mock.calls.length]).toEqual([1, 1, 0]);
  });

  it('of a store whose commit hangs is 503 store_unavailable: the handler was done in time', async () => {
    const { hang, begun } = hanging();
    const store = storeOf(async (_key, work) => {
      await work({});
      return hang();
    });
    const receiver = createReceiver({ secret, idempotency: store, handlerTimeout: 20, logger }, () => undefined);
    const reply = await expire(begun, 20, () => receiver.receive(deliver(), {}));
    expect(reply).toMatchObject({ status: 503, body: '{"error":"store_unavailable"}' });
  });

  it('aborts the store when the handler hangs', async () => {
    const idempotency = memoryStore();
    const { hang, begun } = hanging();
    const receiver = createReceiver({ secret, idempotency, handlerTimeout: 20, logger }, hang);
    const reply = await expire(begun, 20, () => receiver.receive(deliver(), {}));
    expect(reply).toMatchObject({ status: 503, body: '{"error":"handler_timeout"}' });
    const next = createReceiver({ secret, idempotency }, () => undefined);
    expect(await next.receive(deliver(), {})).toMatchObject(received);
  });

  it('reads a done key before it confirms (H11)', async () => {
    const confirm = { getPayment: vi.fn(() => Promise.resolve({ reference: 'order-42', status: 'success' })) };
    const receiver = createReceiver({ secret, idempotency: memoryStore(), confirm }, () => undefined);
    for (let time = 0; time < 3; time++) await receiver.receive(deliver(), {});
    expect(confirm.getPayment).toHaveBeenCalledOnce();
  });

  it.each([
    null,
    {},
    { run: () => undefined },
    { isDone: () => undefined },
    { store: {} },
    { store: memoryStore() },
    { store: memoryStore(), key: 'reference' },
    () => undefined,
  ])('that is no store throws at set-up: %j', (idempotency) => {
    expect(() => createReceiver({ secret, idempotency: idempotency as never }, () => undefined)).toThrow(/idempotency/);
  });
});

describe('identify', () => {
  const of = { kind: 'payment.succeeded', reference: 'order-42' };

  it('without a tenant gives the key that marks have always had', async () => {
    const { key } = await identify(of);
    expect(key).toBe(sha256('payment.succeeded:order-42'));
    expect(await identify({ ...of, tenant: false })).toEqual(await identify(of));
  });

  it('gives one turn to every kind of one reference, and a key to each', async () => {
    const refund = await identify({ ...of, kind: 'payment.refunded' });
    const payment = await identify(of);
    expect(refund.turn).toBe(payment.turn);
    expect(refund.key).not.toBe(payment.key);
    expect((await identify({ ...of, reference: 'order-43' })).turn).not.toBe(payment.turn);
  });

  it('refuses an empty tenant, which would be one merchant for all', async () => {
    await expect(identify({ ...of, tenant: '' })).rejects.toThrow('tenant must not be empty');
  });

  it('keeps tenants apart, however their names are spelt (N03)', async () => {
    const spellings = [
      { tenant: 'a', reference: 'b:c' },
      { tenant: 'a:payment.succeeded', reference: 'b:c' },
      { tenant: 'a:b', reference: 'c' },
      { tenant: 'a","b', reference: 'c' },
      { tenant: 'a', reference: 'b","c' },
      { tenant: 'a\\', reference: 'b' },
      { tenant: 'a', reference: '\\b' },
      { tenant: 'null', reference: 'b' },
      { tenant: 'false', reference: 'b' },
      { tenant: '\ud800', reference: 'b' },
      { tenant: '\udfff', reference: 'b' },
      { tenant: false as const, reference: 'b' },
      { tenant: false as const, reference: '["a","payment.succeeded","b"]' },
    ];
    const identities = await Promise.all(spellings.map((each) => identify({ ...of, ...each })));
    expect(new Set(identities.flatMap(({ key, turn }) => [key, turn])).size).toBe(2 * spellings.length);
  });
});

describe('runOnce', () => {
  const storeOf = (run: IdempotencyStore['run']): IdempotencyStore => ({ run, isDone: () => Promise.resolve(false) });

  it('lets `nothing_written` of the store pass as it is: 503, to be retried in a minute (N01)', async () => {
    const refusal = new WebhookError('nothing_written', { message: 'no row was changed' });
    const store = storeOf(async (_key, work) => {
      await work({});
      throw refusal;
    });
    await expect(runOnce(store, 'key', () => Promise.resolve(), { signal })).rejects.toBe(refusal);
    const observe = vi.fn();
    const receiver = createReceiver({ secret, idempotency: store, observe, logger }, () => undefined);
    expect(await receiver.receive(deliver(), {})).toEqual({
      status: 503,
      headers: { 'content-type': 'application/json', 'retry-after': '60' },
      body: '{"error":"nothing_written"}',
    });
    expect(logger.error).toHaveBeenCalledExactlyOnceWith(
      '[paylink] 503 nothing_written: no row was changed. See docs/errors.md#nothing_written',
    );
    expect(observe).toHaveBeenCalledExactlyOnceWith(expect.objectContaining({ outcome: 'failed', code: 'nothing_written' }));
  });

  it.each([new WebhookError('unknown_order', { status: 404 }), new WebhookError('invalid_signature'), new Error('no')])(
    'takes no other error of a store for an answer to the sender: %s',
    async (cause) => {
      const store = storeOf(() => Promise.reject(cause));
      await expect(runOnce(store, 'key', () => Promise.resolve(), { signal })).rejects.toMatchObject({
        code: 'store_unavailable',
        cause,
      });
    },
  );

  it('takes an error of the store for the handler’s only where it is the same object', async () => {
    const store = storeOf(async (_key, work) => {
      await work({}).catch(() => undefined);
      throw new Error('the connection ended');
    });
    const work = (): Promise<never> => Promise.reject(new Error('the handler'));
    await expect(runOnce(store, 'key', work, { signal })).rejects.toMatchObject({ code: 'store_unavailable' });
    const undefinedThrown = storeOf(() => Promise.reject(undefined));
    await expect(runOnce(undefinedThrown, 'key', hang, { signal })).rejects.toMatchObject({ code: 'store_unavailable' });
  });

  it('judges a store that runs the work again by the last run alone', async () => {
    const error = new Error('the first run');
    const outcomes: (() => Promise<void>)[] = [];
    const work = (): Promise<void> => outcomes.shift()!();
    const succeed = (): Promise<void> => Promise.resolve();
    const fail = (): Promise<void> => Promise.reject(error);
    const twice = async (_key: string, run: (scope: object) => Promise<void>) => {
      await run({}).catch(() => undefined);
      await run({}).catch(() => undefined);
    };
    const saysDone = storeOf(async (key, run) => {
      await twice(key, run);
      return 'done';
    });
    outcomes.push(succeed, fail);
    await expect(runOnce(saysDone, 'key', work, { signal })).rejects.toMatchObject({ code: 'store_unavailable' });
    outcomes.push(fail, succeed);
    expect(await runOnce(saysDone, 'key', work, { signal })).toBe('done');
    const throwsThatOfTheFirst = storeOf(async (key, run) => {
      await twice(key, run);
      throw error;
    });
    outcomes.push(fail, succeed);
    await expect(runOnce(throwsThatOfTheFirst, 'key', work, { signal })).rejects.toMatchObject({
      code: 'store_unavailable',
      cause: error,
    });
  });

  it('hands the store the turn and the signal', async () => {
    const run = vi.fn<IdempotencyStore['run']>(async (_key, work) => {
      await work({});
      return 'done';
    });
    await createReceiver({ secret, idempotency: storeOf(run) }, () => undefined).receive(deliver(), {});
    const { key, turn } = await identify({ kind: 'payment.succeeded', reference: 'order-42' });
    expect(run).toHaveBeenCalledExactlyOnceWith(key, expect.any(Function), {
      signal: expect.any(AbortSignal) as AbortSignal,
      turn,
    });
  });

  it('isDone says that the store failed, and with what (I01)', async () => {
    const cause = new Error('ECONNREFUSED');
    const store = { isDone: () => Promise.reject(cause) };
    await expect(isDone(store, 'key')).rejects.toMatchObject({ code: 'store_unavailable', cause });
  });

  it.each([undefined, 1, 'true'])('isDone takes %j for no answer', async (answer) => {
    const store = { isDone: () => Promise.resolve(answer as unknown as boolean) };
    await expect(isDone(store, 'key')).rejects.toMatchObject({ code: 'store_unavailable' });
  });
});
