import { afterEach, describe, expect, it, vi } from 'vitest';
import { signedDelivery } from '@paylink/testing';
import { identify, keyedByTenant, onlyQueues } from '../src/idempotency.js';
import { createDispatcher, createReceiver, memoryStore, type IdempotencyStore, type ReceiverOptions } from '../src/index.js';
import { deliver, received, secret } from './deliver.js';

const logger = { warn: vi.fn(), error: vi.fn() };
const SECRETS = new Map([
  ['acme', 'the-webhook-secret-of-acme'],
  ['bolt', 'the-webhook-secret-of-bolt'],
]);
interface Host {
  readonly path: string;
}
/** As merchants write it: one spelling of the path's tenant, whatever the request's. */
const tenant = ({ path }: Host): string => path.slice(1).toLowerCase();
const secretByPath = (host: Host): string | undefined => SECRETS.get(tenant(host));
const of = (name: string) => ({
  delivery: deliver({ secret: SECRETS.get(name), reference: 'order-1' }),
  host: { path: `/${name}` },
});

afterEach(() => {
  vi.clearAllMocks();
});

describe('tenant', () => {
  it('credits one order number of two merchants once each (N03)', async () => {
    const credited: unknown[] = [];
    const receiver = createReceiver(
      { secret: secretByPath, tenant, idempotency: memoryStore() },
      (_event, context: Host & { readonly tenant?: string | undefined }) => void credited.push(context.tenant),
    );
    for (const name of ['acme', 'bolt', 'acme', 'bolt']) {
      const { delivery, host } = of(name);
      expect(await receiver.receive(delivery, host)).toMatchObject(received);
    }
    // Another spelling of the path is the same merchant.
    expect(await receiver.receive(of('acme').delivery, { path: '/ACME' })).toMatchObject(received);
    expect(credited).toEqual(['acme', 'bolt']);
  });

  it('asks by the API key of the merchant whose secret it was (N04)', async () => {
    const asked: unknown[] = [];
    const confirm = {
      getPayment: (reference: string, options: { readonly tenant?: string | undefined }) => {
        asked.push(options.tenant);
        return Promise.resolve({ reference, status: 'success' });
      },
    };
    const receiver = createReceiver({ secret: secretByPath, tenant, confirm }, () => undefined);
    for (const name of ['acme', 'bolt']) await receiver.receive(of(name).delivery, of(name).host);
    // A genuine delivery of one merchant, at the path of the other.
    expect(await receiver.receive(of('acme').delivery, of('bolt').host)).toMatchObject({ status: 401 });
    expect(asked).toEqual(['acme', 'bolt']);
  });

  it('is asked only after the signature, once, with the context of the host', async () => {
    const ask = vi.fn(tenant);
    const handler = vi.fn();
    const receiver = createReceiver({ secret: secretByPath, tenant: ask, idempotency: memoryStore(), logger }, handler);
    await receiver.receive(deliver({ extra: { 'x-service-signature': '0'.repeat(64) } }), { path: '/acme' });
    expect(ask).not.toHaveBeenCalled();
    const { delivery, host } = of('acme');
    await receiver.receive(delivery, host);
    expect(ask).toHaveBeenCalledExactlyOnceWith(host);
    expect(handler.mock.calls[0]![1]).toMatchObject({ tenant: 'acme', path: '/acme' });
  });

  it('reaches the handler also where there is neither a store nor `confirm`', async () => {
    const handler = vi.fn();
    await createReceiver({ secret, tenant: () => Promise.resolve('acme') }, handler).receive(deliver(), {});
    await createReceiver({ secret, tenant: 'bolt' }, handler).receive(deliver(), {});
    await createReceiver({ secret, tenant: false }, handler).receive(deliver(), {});
    expect(handler.mock.calls.map(([, context]) => (context as { tenant?: string }).tenant)).toEqual(['acme', 'bolt', undefined]);
    expect(handler.mock.calls[2]![1]).not.toHaveProperty('tenant');
  });

  const failing: readonly (readonly [string, () => unknown])[] = [
    [
      'throws',
      () => {
        throw new Error('no such table');
      },
    ],
    ['rejects', () => Promise.reject(new Error('no such table'))],
    ['gives an empty string', () => ''],
    ['gives nothing', () => undefined],
    ['gives null', () => Promise.resolve(null)],
    ['gives a number', () => 7],
    ['gives false', () => false],
    ['gives an object with toString', () => ({ toString: () => 'acme' })],
  ];
  it.each(failing)('that %s is 503 secret_unavailable: nothing is asked, run or marked', async (_, fail) => {
    const store = { isDone: vi.fn(), run: vi.fn() } as unknown as IdempotencyStore;
    const confirm = { getPayment: vi.fn() };
    const handler = vi.fn();
    const options = { secret: secretByPath, tenant: fail as () => string, idempotency: store, confirm, logger };
    const reply = await createReceiver(options, handler).receive(of('acme').delivery, of('acme').host);
    expect(reply).toMatchObject({ status: 503, body: '{"error":"secret_unavailable"}', headers: { 'retry-after': '5' } });
    for (const mock of [store.isDone, store.run, confirm.getPayment, handler]) expect(mock).not.toHaveBeenCalled();
    expect(logger.error).toHaveBeenCalledExactlyOnceWith(expect.stringMatching(/503 secret_unavailable: .*`tenant`/));
    expect(JSON.stringify(logger.error.mock.calls)).not.toContain('no such table');
  });

  it('that fails has another line in the log than one that gives no string', async () => {
    const lines: string[] = [];
    const collecting = { warn: vi.fn(), error: (line: string) => lines.push(line) };
    for (const give of [() => Promise.reject(new RangeError('no such table')), () => '']) {
      await createReceiver({ secret, tenant: give, logger: collecting }, () => undefined).receive(deliver(), {});
    }
    expect(lines).toEqual([
      expect.stringContaining('the function given as `tenant` failed (RangeError)'),
      expect.stringContaining('the function given as `tenant` must give a string that is not empty'),
    ]);
  });

  it('that hangs is 503 secret_unavailable after five seconds, and a late answer runs nothing', async () => {
    vi.useFakeTimers();
    try {
      let answer!: (tenant: string) => void;
      let ask!: () => void;
      const slow = () => {
        ask();
        return new Promise<string>((resolve) => (answer = resolve));
      };
      const handler = vi.fn();
      for (const [milliseconds, options] of [
        [5_000, {}],
        [1_000, { handlerTimeout: 1_000 }],
      ] as const) {
        const asked = new Promise<void>((resolve) => (ask = resolve));
        const receiver = createReceiver({ secret, tenant: slow, idempotency: memoryStore(), logger, ...options }, handler);
        const reply = receiver.receive(deliver(), {});
        await asked;
        await vi.advanceTimersByTimeAsync(milliseconds);
        expect(await reply).toMatchObject({ status: 503, body: '{"error":"secret_unavailable"}' });
        answer('acme');
        await vi.advanceTimersByTimeAsync(60_000);
        expect(handler).not.toHaveBeenCalled();
      }
    } finally {
      vi.useRealTimers();
    }
  });

  it('counts the marks from before there were tenants, where it is false or left out', async () => {
    const store = memoryStore();
    const { key } = await identify({ kind: 'payment.succeeded', reference: 'order-42' });
    await store.run(key, () => Promise.resolve(), { signal: new AbortController().signal });
    const handler = vi.fn();
    for (const options of [{}, { tenant: false as const }]) {
      expect(await createReceiver({ secret, idempotency: store, ...options }, handler).receive(deliver(), {})).toMatchObject(
        received,
      );
    }
    expect(handler).not.toHaveBeenCalled();
    await createReceiver({ secret, idempotency: store, tenant: 'acme' }, handler).receive(deliver(), {});
    expect(handler).toHaveBeenCalledOnce();
  });

  it('is in the context of `idempotency.key`, beside what the host gives', async () => {
    const key = vi.fn((_event: unknown, context: Host & { readonly tenant?: string | undefined }) => `${context.tenant}:own`);
    const idempotency = { store: memoryStore(), key };
    await createReceiver({ secret: secretByPath, tenant, idempotency }, () => undefined).receive(of('acme').delivery, {
      path: '/Acme',
    });
    expect(key).toHaveBeenCalledExactlyOnceWith(expect.objectContaining({ reference: 'order-1' }), {
      path: '/Acme',
      tenant: 'acme',
    });
  });

  it('is asked with all that there is of the host, as `secret` and `key` are, though a handler under a store gets no means to respond', async () => {
    const seen: Record<string, unknown> = {};
    const see =
      (name: string, answer: string) =>
      (...given: readonly unknown[]): string => {
        seen[name] = given.at(-1);
        return answer;
      };
    const receiver = createReceiver(
      {
        secret: see('secret', secret),
        tenant: see('tenant', 'acme'),
        idempotency: { store: memoryStore(), key: see('key', 'order-42') },
      },
      (_event, context) => void (seen['handler'] = context),
    );
    expect(await receiver.receive(deliver(), { req: 'a request' }, { res: 'a response' })).toMatchObject(received);
    const host = { req: 'a request', res: 'a response' };
    expect(seen).toMatchObject({ secret: host, tenant: host, key: { ...host, tenant: 'acme' }, handler: { req: 'a request' } });
    expect(seen['handler']).not.toHaveProperty('res');
  });

  it('gives runs of one merchant and reference one turn, also under a key of the merchant’s own', async () => {
    const run = vi.fn<IdempotencyStore['run']>(async (_key, work) => {
      await work({});
      return 'done';
    });
    const store = { isDone: () => Promise.resolve(false), run };
    await createReceiver({ secret, idempotency: store, tenant: 'acme' }, () => undefined).receive(deliver(), {});
    await createReceiver({ secret, idempotency: { store, key: () => 'own' }, tenant: 'acme' }, () => undefined).receive(
      deliver(),
      {},
    );
    const { turn } = await identify({ tenant: 'acme', kind: 'any', reference: 'order-42' });
    expect(run.mock.calls.map(([, , options]) => options.turn)).toEqual([turn, turn]);
  });

  describe('is needed where `secret` is a function (N05)', () => {
    const confirm = { getPayment: (reference: string) => Promise.resolve({ reference, status: 'success' }) };
    const idempotency = memoryStore();
    const keyed = { store: idempotency, key: () => 'own' };
    const refused: readonly Partial<ReceiverOptions<never, never, object, Host>>[] = [
      { idempotency },
      { confirm: confirm as never },
      { confirm: confirm as never, idempotency },
      // The key speaks for the store: by whose API key to ask, it does not say.
      { confirm: confirm as never, idempotency: keyed },
    ];
    it.each(refused)('and refuses without it, saying which line to write: %o', (options) => {
      expect(() => createReceiver({ secret: secretByPath, ...options } as never, () => undefined)).toThrow(
        /^tenant is missing: `secret` is a function.*`tenant: false`.*`tenant: \(context\) => …`/,
      );
    });

    it('and refuses a handler that keys by tenant itself, alone or in a map', () => {
      const keying = keyedByTenant(() => undefined);
      // What marks it is known to every copy of this package.
      expect(Object.getOwnPropertySymbols(keying)).toEqual([Symbol.for('paylink.keyed')]);
      const missing = /^tenant is missing/;
      expect(() => createReceiver({ secret: secretByPath }, keying)).toThrow(missing);
      expect(() => createReceiver({ secret: secretByPath }, { 'payment.succeeded': keying })).toThrow(missing);
      expect(() => createReceiver({ secret: secretByPath, tenant: false }, keying)).not.toThrow();
      expect(() => createReceiver({ secret: 'the-secret-of-one-merchant' }, keying)).not.toThrow();
    });

    it('and refuses a store around a handler that keys by tenant itself: its worker has the same key', () => {
      const keying = keyedByTenant(() => undefined);
      for (const handlers of [keying, { 'payment.succeeded': keying }]) {
        expect(() => createReceiver({ secret, idempotency }, handlers)).toThrow(
          /^idempotency must not be given to a handler that only queues/,
        );
        expect(() => createDispatcher({ idempotency }, handlers)).toThrow(/^idempotency must not be given/);
        expect(() => createReceiver({ secret, confirm }, handlers)).not.toThrow();
      }
    });

    it('and refuses a store around a handler that only queues, by whatever key: its worker has the store', () => {
      const queueing = onlyQueues(() => undefined);
      expect(Object.getOwnPropertySymbols(queueing)).toEqual([Symbol.for('paylink.queues')]);
      for (const handlers of [queueing, { 'payment.succeeded': queueing }]) {
        expect(() => createReceiver({ secret, idempotency }, handlers)).toThrow(
          /^idempotency must not be given to a handler that only queues/,
        );
        // Its own key may tell the tenants apart.
        expect(() => createReceiver({ secret: secretByPath }, handlers)).not.toThrow();
      }
    });

    const accepted: readonly object[] = [
      {},
      { idempotency: keyed },
      ...refused.flatMap((options) => [false, 'acme', tenant].map((each) => ({ ...options, tenant: each }))),
    ];
    it.each(accepted)('and accepts %o', (options) => {
      expect(() => createReceiver({ secret: secretByPath, ...options } as never, () => undefined)).not.toThrow();
    });

    it('and not where it is a value', () => {
      expect(() => createReceiver({ secret, confirm, idempotency }, () => undefined)).not.toThrow();
      expect(() => createReceiver({ secret: [secret], confirm, idempotency }, () => undefined)).not.toThrow();
    });
  });

  it.each(['', null, true, 7, {}])('is refused at construction as %j', (value) => {
    expect(() => createReceiver({ secret, tenant: value as never }, () => undefined)).toThrow(/^tenant must be false, a string/);
  });

  it('is refused by a gate, which has neither a store nor `confirm`', () => {
    expect(() => createReceiver({ secret, tenant: 'acme' } as never)).toThrow(/tenant/);
  });
});

describe('tenant of a dispatcher', () => {
  const { rawBody } = signedDelivery({ reference: 'order-1' });
  const proven = { kind: 'payment.succeeded', rawBody, secretIndex: 0 };

  it('credits one order number of two merchants once each, by the option or by what the queue kept (N03)', async () => {
    const credited: unknown[] = [];
    const dispatcher = createDispatcher(
      { idempotency: memoryStore(), tenant: ({ job }: { readonly job: string }) => job },
      (_event, context: { readonly tenant?: string | undefined; readonly job: string }) => void credited.push(context.tenant),
    );
    await dispatcher.dispatch(proven, { job: 'acme' });
    await dispatcher.dispatch({ ...proven, tenant: 'bolt' }, { job: 'acme' });
    expect(await dispatcher.dispatch({ ...proven, tenant: 'acme' }, { job: 'none' })).toEqual({ outcome: 'duplicate' });
    expect(await dispatcher.dispatch(proven, { job: 'bolt' })).toEqual({ outcome: 'duplicate' });
    expect(credited).toEqual(['acme', 'bolt']);
  });

  it.each(['', 7, null])('refuses %j from the queue', async (kept) => {
    const handler = vi.fn();
    const dispatcher = createDispatcher({ idempotency: memoryStore(), logger }, handler);
    await expect(dispatcher.dispatch({ ...proven, tenant: kept as string }, {})).rejects.toThrow('tenant must be a string');
    expect(handler).not.toHaveBeenCalled();
  });

  it('is not needed, since a dispatcher has no secret', () => {
    expect(() => createDispatcher({ idempotency: memoryStore() }, () => undefined)).not.toThrow();
  });
});
