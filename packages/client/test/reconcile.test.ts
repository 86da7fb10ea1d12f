import { createReceiver, memoryStore, sign, WebhookError, type IdempotencyStore as CoreStore, type Reply } from '@paylink/core';
import { startEmulator, type Emulator } from '@paylink/emulator';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import {
  ConfigurationError,
  createClient,
  PaylinkError,
  reconcile,
  type IdempotencyStore,
  type PaylinkClient,
  type PaymentReader,
  type ReconcileOptions,
} from '../src/index.js';
import { failure } from './raw-server.js';

const SECRET = 'the-webhook-secret-of-a-test';
let emulator: Emulator;
let client: PaylinkClient;

beforeAll(async () => {
  emulator = await startEmulator();
  client = createClient({ baseUrl: emulator.baseUrl, apiKey: emulator.apiKey, retries: 0 });
});
afterAll(() => emulator.close());

let orders = 0;

/** Makes a link and brings its payment into a status. */
async function order(status: 'pending' | 'success' | 'failed' | 'cancelled' = 'success'): Promise<string> {
  const reference = `commande-${++orders}/é`;
  await client.createPaymentLink({ amount: 1_000, reference });
  if (status === 'success') await emulator.pay(reference);
  if (status === 'failed') await emulator.fail(reference);
  if (status === 'cancelled') await emulator.cancel(reference);
  return reference;
}

/** A reader that knows these payments without a service. */
function reader(read: (reference: string, signal: AbortSignal) => unknown = () => ({})): PaymentReader & { asked: string[] } {
  const asked: string[] = [];
  return {
    asked,
    async getPayment(reference, { signal }) {
      asked.push(reference);
      const payment = (await read(reference, signal)) as object;
      return { reference, type: 'payment', currency: 'XOF', status: 'success', ...payment };
    },
  };
}

async function notify(
  reference: string,
  receiver: { receive(delivery: object, host: object): Promise<Reply> | Reply },
): Promise<Reply> {
  const body = new TextEncoder().encode(JSON.stringify({ reference }));
  const headers: Record<string, string> = {
    'x-service-event': 'payment.succeeded',
    'x-service-signature': await sign(body, SECRET),
  };
  return receiver.receive({ method: 'POST', header: (name: string) => headers[name], body: () => Promise.resolve(body) }, {});
}

describe('reconcile', () => {
  it('credits what is paid, once, and tells of each reference how it stands', async () => {
    const [paid, pending, failed, cancelled] = [
      await order(),
      await order('pending'),
      await order('failed'),
      await order('cancelled'),
    ];
    const idempotency = memoryStore();
    const credited: string[] = [];
    const results: unknown[] = [];
    const run = () =>
      reconcile({
        client,
        references: [paid, pending, failed, cancelled, 'nobody', '..'],
        idempotency,
        onSuccess: ({ reference, amount }) => void credited.push(`${reference}: ${amount}`),
        onResult: (result) => results.push(result),
      });
    const report = await run();
    expect(report).toEqual({
      total: 6,
      credited: [paid],
      duplicates: [],
      inProgress: [],
      pending: [pending],
      failed: [failed],
      cancelled: [cancelled],
      unknown: [],
      notAsked: [],
      cursor: undefined,
      errors: expect.arrayContaining([
        { reference: 'nobody', error: expect.objectContaining({ code: 'not_found' }) as object },
        { reference: '..', error: expect.objectContaining({ code: 'invalid_reference' }) as object },
      ]) as object[],
    });
    expect(results).toHaveLength(6);
    expect(results).toContainEqual({ reference: paid, outcome: 'credited' });
    expect(results).toContainEqual({
      reference: '..',
      outcome: 'error',
      error: report.errors.find((e) => e.reference === '..')!.error,
    });
    expect((await run()).duplicates).toEqual([paid]);
    expect(credited).toEqual([`${paid}: 1000`]);
  });

  it.each(['unknown', 'Success', 'refunded'])('never credits a payment in the status %s (L12)', async (status) => {
    const onSuccess = vi.fn();
    const report = await reconcile({
      client: reader(() => ({ status })),
      references: ['r'],
      idempotency: memoryStore(),
      onSuccess,
    });
    expect([report.unknown, onSuccess.mock.calls]).toEqual([['r'], []]);
  });

  it('never credits the payment of another reference, whatever client read it (L11)', async () => {
    const onSuccess = vi.fn();
    for (const answer of [{ reference: 'other' }, { reference: undefined }]) {
      const report = await reconcile({ client: reader(() => answer), references: ['r'], idempotency: memoryStore(), onSuccess });
      expect(report.errors).toMatchObject([{ reference: 'r', error: { code: 'response_mismatch' } }]);
    }
    const nothing = { getPayment: () => Promise.resolve(null) } as unknown as PaymentReader;
    const report = await reconcile({ client: nothing, references: ['r'], idempotency: memoryStore(), onSuccess });
    expect(report.errors).toMatchObject([{ error: { code: 'response_mismatch' } }]);
    expect(onSuccess).not.toHaveBeenCalled();
  });

  it('asks neither the store nor the client for what is no reference', async () => {
    const client = reader();
    const idempotency: IdempotencyStore = { isDone: vi.fn(), run: vi.fn() };
    const references = ['..', '', 'a\0b', 7 as unknown as string];
    const report = await reconcile({ client, references, idempotency, onSuccess: () => undefined });
    expect(report.errors).toHaveLength(4);
    for (const { error } of report.errors) {
      expect(error).toMatchObject({ code: 'invalid_reference', message: expect.stringMatching(/^reference must /) as string });
    }
    expect([client.asked, vi.mocked(idempotency.isDone).mock.calls]).toEqual([[], []]);
  });

  it('asks the store first, so that what is done costs no request', async () => {
    const idempotency = memoryStore();
    const client = reader();
    const options = { client, references: ['r'], idempotency, onSuccess: () => undefined };
    await reconcile(options);
    await reconcile(options);
    expect(client.asked).toEqual(['r']);
  });

  it('goes on when one fails, and does that one in the next run', async () => {
    const fault = new Error('no such order');
    const idempotency = memoryStore();
    let broken = true;
    const run = () =>
      reconcile({
        client: reader(),
        references: ['a', 'b', 'c'],
        idempotency,
        onSuccess: ({ reference }) => {
          if (broken && reference === 'b') throw fault;
        },
      });
    const report = await run();
    expect([[...report.credited].sort(), report.errors]).toMatchObject([['a', 'c'], [{ reference: 'b' }]]);
    expect(report.errors[0]!.error).toBe(fault);
    broken = false;
    const { credited, duplicates, errors } = await run();
    expect([credited, [...duplicates].sort(), errors]).toEqual([['b'], ['a', 'c'], []]);
  });

  it('credits no payment whose onSuccess threw what a store would throw, and reports it as thrown', async () => {
    for (const fault of [new WebhookError('in_progress'), new WebhookError('store_unavailable')]) {
      const onSuccess = (): never => {
        throw fault;
      };
      const report = await reconcile({ client: reader(), references: ['r'], idempotency: memoryStore(), onSuccess });
      expect([report.credited, report.inProgress]).toEqual([[], []]);
      expect(report.errors[0]!.error).toBe(fault);
    }
  });

  it('takes an Error that onSuccess returns for thrown, and a Response that is not 2xx for no success', async () => {
    const returned = new WebhookError('unknown_order', { status: 503 });
    const idempotency = memoryStore();
    const run = (onSuccess: () => unknown) => reconcile({ client: reader(), references: ['r'], idempotency, onSuccess });
    expect(await run(() => returned)).toMatchObject({ credited: [], errors: [{ reference: 'r', error: returned }] });
    const answer = await run(() => Promise.resolve(new Response(null, { status: 503 })));
    expect(answer.credited).toEqual([]);
    expect((answer.errors[0]!.error as Error).message).toMatch(/^the handler returned a Response of status 503/);
    expect((await run(() => undefined)).credited).toEqual(['r']);
  });

  it('hands on what a reader rejected with, whatever it is, and asks once', async () => {
    for (const fault of [undefined, null, 'down', { retryAfter: 1_000 }, { code: 'rate_limited' }]) {
      const client = reader(() => Promise.reject(fault));
      const report = await reconcile({ client, references: ['r'], idempotency: memoryStore(), onSuccess: () => undefined });
      expect(report.errors).toEqual([{ reference: 'r', error: fault }]);
      expect(client.asked).toEqual(['r']);
    }
  });

  it('leaves the rate limit to the run, and names a tenant only where there is one', async () => {
    const seen: object[] = [];
    const options = {
      client: {
        getPayment: (reference: string, asked: object) => {
          seen.push(asked);
          return Promise.resolve({ reference, type: 'payment', currency: 'XOF', status: 'success' } as const);
        },
      },
      references: ['r'],
      onSuccess: (_payment: object, context: object) => void seen.push(context),
    };
    await reconcile({ ...options, idempotency: memoryStore() });
    await reconcile({ ...options, idempotency: memoryStore(), tenant: 'acme' });
    const signal = expect.any(AbortSignal) as AbortSignal;
    expect(seen).toStrictEqual([
      { signal, retryLimited: false },
      { signal },
      { signal, tenant: 'acme', retryLimited: false },
      { signal, tenant: 'acme' },
    ]);
  });

  it('reads references as they come, and no more of them than it has places for', async () => {
    let given = 0;
    let running = 0;
    let most = 0;
    async function* references(): AsyncGenerator<string> {
      while (given < 20) {
        yield `r-${++given}`;
        expect(given - settled).toBeLessThanOrEqual(4);
      }
    }
    let settled = 0;
    const client = reader(async () => {
      most = Math.max(most, ++running);
      await new Promise((resolve) => setImmediate(resolve));
      running--;
    });
    const report = await reconcile({
      client,
      references: references(),
      idempotency: memoryStore(),
      onSuccess: () => undefined,
      onResult: () => settled++,
      concurrency: 3,
    });
    expect([report.credited.length, most]).toEqual([20, 3]);
  });

  it('credits once a reference that is listed twice', async () => {
    let go = (): void => undefined;
    const onSuccess = vi.fn(() => new Promise<void>((resolve) => (go = resolve)));
    // The other one has its result while the first is at work.
    const onResult = (): void => go();
    const report = await reconcile({ client: reader(), references: ['r', 'r'], idempotency: memoryStore(), onSuccess, onResult });
    expect(onSuccess).toHaveBeenCalledOnce();
    expect(report).toMatchObject({ total: 2, credited: ['r'], inProgress: ['r'] });
  });

  it('survives a hook that throws or rejects', async () => {
    for (const onResult of [
      () => {
        throw new Error('x');
      },
      () => Promise.reject(new Error('x')),
    ]) {
      const report = await reconcile({
        client: reader(),
        references: ['r'],
        idempotency: memoryStore(),
        onSuccess: () => undefined,
        onResult,
      });
      expect(report.credited).toEqual(['r']);
    }
  });
});

describe('reconcile and the webhook', () => {
  /** A merchant with a webhook and with reconcile, and how often each order was credited. */
  function merchant(idempotency: CoreStore = memoryStore(), key?: (event: { readonly reference: string }) => string) {
    const credits = new Map<string, number>();
    const credit = async (reference: string): Promise<void> => {
      await new Promise((resolve) => setImmediate(resolve));
      credits.set(reference, (credits.get(reference) ?? 0) + 1);
    };
    const option = key === undefined ? idempotency : { store: idempotency, key };
    const outcomes: string[] = [];
    const receiver = createReceiver(
      {
        secret: SECRET,
        confirm: client,
        idempotency: option,
        observe: ({ outcome }) => void outcomes.push(outcome),
        logger: { warn: () => undefined, error: () => undefined },
      },
      ({ reference }) => credit(reference),
    );
    const catchUp = (references: string[]) =>
      reconcile({ client, references, idempotency: option, onSuccess: ({ reference }) => credit(reference) });
    return { credits, outcomes, receiver, catchUp };
  }

  it.each([
    ['the default', undefined],
    ['one of the merchant’s own', ({ reference }: { readonly reference: string }) => `order ${reference}`],
  ])('share the key (%s), so that a late notification is a duplicate', async (_, key) => {
    const reference = await order();
    const { credits, outcomes, receiver, catchUp } = merchant(memoryStore(), key);
    expect((await catchUp([reference])).credited).toEqual([reference]);
    expect((await notify(reference, receiver)).status).toBe(200);
    expect(outcomes).toEqual(['duplicate']);
    expect(credits.get(reference)).toBe(1);
  });

  it('share the key, so that what was notified is a duplicate of reconcile', async () => {
    const reference = await order();
    const { credits, outcomes, receiver, catchUp } = merchant();
    await notify(reference, receiver);
    expect(outcomes).toEqual(['handled']);
    expect((await catchUp([reference])).duplicates).toEqual([reference]);
    expect(credits.get(reference)).toBe(1);
  });

  it('give one credit where both come at once, twenty times over', async () => {
    const { credits, receiver, catchUp } = merchant();
    const references = await Promise.all(Array.from({ length: 20 }, () => order()));
    const [report] = await Promise.all([
      catchUp(references),
      ...references.map((reference) => notify(reference, receiver)),
      catchUp(references),
    ]);
    expect(report.errors).toEqual([]);
    for (const reference of references) expect([reference, credits.get(reference)]).toEqual([reference, 1]);
  });

  it('use the SHA-256 of the success and its reference', async () => {
    const keys: string[] = [];
    const store: IdempotencyStore = {
      isDone: (key) => Promise.resolve(keys.push(key) === 0),
      run: async (key, work) => {
        keys.push(key);
        await work({});
        return 'done';
      },
    };
    await reconcile({ client: reader(), references: ['order-42'], idempotency: store, onSuccess: () => undefined });
    // printf 'payment.succeeded:order-42' | sha256sum
    const key = 'eb37689482b3bc08d8fc9eb8f0913719d138e879fb9dd5c15853dd3823e94565';
    expect(keys).toEqual([key, key]);
  });
});

describe('a store that fails', () => {
  const store = (change: Partial<IdempotencyStore>): IdempotencyStore => ({
    isDone: () => Promise.resolve(false),
    run: async (_key, work) => {
      await work({});
      return 'done';
    },
    ...change,
  });

  it.each<[string, Partial<IdempotencyStore>]>([
    ['rejects when it is asked', { isDone: () => Promise.reject(new Error('down')) }],
    ['gives no boolean', { isDone: () => Promise.resolve(undefined as never) }],
    ['rejects when it is to run', { run: () => Promise.reject(new Error('down')) }],
    ['says done for work that never ran', { run: () => Promise.resolve('done') }],
    ['gives a result that there is not', { run: () => Promise.resolve('ok' as never) }],
    [
      'fails after the work succeeded',
      {
        run: async (_key, work) => {
          await work({});
          throw new Error('no commit');
        },
      },
    ],
  ])('is an error of the reference: it %s', async (_, change) => {
    const report = await reconcile({ client: reader(), references: ['r'], idempotency: store(change), onSuccess: () => undefined });
    expect(report.credited).toEqual([]);
    expect(report.errors).toMatchObject([{ reference: 'r', error: { code: 'store_unavailable' } }]);
    expect(report.errors[0]!.error).toBeInstanceOf(PaylinkError);
  });

  it('is an error with the store’s own as its cause', async () => {
    const down = new Error('down');
    for (const change of [{ isDone: () => Promise.reject(down) }, { run: () => Promise.reject(down) }]) {
      const report = await reconcile({
        client: reader(),
        references: ['r'],
        idempotency: store(change),
        onSuccess: () => undefined,
      });
      expect((report.errors[0]!.error as Error).cause).toBe(down);
    }
  });

  it('has its own code where the store refuses in its own words', async () => {
    const refused = new WebhookError('nothing_written');
    const idempotency = store({ run: () => Promise.reject(refused) });
    const report = await reconcile({ client: reader(), references: ['r'], idempotency, onSuccess: () => undefined });
    expect(report.errors).toEqual([{ reference: 'r', error: refused }]);
  });

  it('is an error of the reference: it says done for work that failed', async () => {
    const idempotency = store({
      run: async (_key, work) => {
        await work({}).catch(() => undefined);
        return 'done';
      },
    });
    const onSuccess = (): never => {
      throw new Error('no such order');
    };
    const report = await reconcile({ client: reader(), references: ['r'], idempotency, onSuccess });
    expect([report.credited, report.errors]).toMatchObject([[], [{ reference: 'r', error: { code: 'store_unavailable' } }]]);
  });

  it('hangs no longer than the timeout', async () => {
    for (const [code, change] of [
      ['store_unavailable', { isDone: () => new Promise<never>(() => undefined) }],
      ['handler_timeout', { run: () => new Promise<never>(() => undefined) }],
    ] as const) {
      const report = await reconcile({
        client: reader(),
        references: ['r'],
        idempotency: store(change),
        onSuccess: () => undefined,
        timeout: 30,
      });
      expect(report.errors).toMatchObject([{ error: { code } }]);
    }
  });

  it('starts no work once its time is over', async () => {
    let late: (() => Promise<unknown>) | undefined;
    const idempotency = store({
      run: (_key, work) =>
        new Promise(() => {
          late = () => work({});
        }),
    });
    const onSuccess = vi.fn();
    await reconcile({ client: reader(), references: ['r'], idempotency, onSuccess, timeout: 30 });
    await expect(late!()).rejects.toMatchObject({ code: 'handler_timeout' });
    expect(onSuccess).not.toHaveBeenCalled();
  });
});

describe('a time limit', () => {
  it('aborts what onSuccess is at, tells the store, and leaves no mark', async () => {
    const seen: AbortSignal[] = [];
    const idempotency = memoryStore();
    const watched: IdempotencyStore = {
      isDone: (key) => idempotency.isDone(key),
      run: (key, work, options) => {
        seen.push(options.signal);
        return idempotency.run(key, work, options);
      },
    };
    const options: ReconcileOptions<object> = {
      client: reader(),
      references: ['r'],
      idempotency: watched,
      onSuccess: (_payment, { signal }) => {
        seen.push(signal);
        return new Promise(() => undefined);
      },
      timeout: 30,
    };
    expect((await reconcile(options)).errors).toMatchObject([{ reference: 'r', error: { code: 'handler_timeout' } }]);
    expect(seen.map(({ aborted }) => aborted)).toEqual([true, true]);
    expect((await reconcile({ ...options, onSuccess: () => undefined })).credited).toEqual(['r']);
  });

  it('ends a reading that hangs', async () => {
    const client = reader(() => new Promise(() => undefined));
    const report = await reconcile({
      client,
      references: ['r'],
      idempotency: memoryStore(),
      onSuccess: () => undefined,
      timeout: 30,
    });
    expect(report.errors).toMatchObject([{ error: { code: 'timeout' } }]);
  });
});

describe('an end before the end', () => {
  it('rejects on abort, ends what is under way and asks for no more references', async () => {
    const controller = new AbortController();
    let closed = false;
    async function* references(): AsyncGenerator<string> {
      try {
        for (let index = 0; ; index++) yield `r-${index}`;
      } finally {
        closed = true;
      }
    }
    const results: unknown[] = [];
    const client = reader((reference, signal) => {
      if (reference !== 'r-2') return {};
      setImmediate(() => {
        controller.abort(new Error('shutdown'));
      });
      return new Promise((_, reject) => {
        signal.addEventListener('abort', () => {
          reject(new Error('ended'));
        });
      });
    });
    const error = await failure(
      reconcile({
        client,
        references: references(),
        idempotency: memoryStore(),
        onSuccess: () => undefined,
        onResult: (result) => results.push(result),
        concurrency: 1,
        signal: controller.signal,
      }),
    );
    expect(error).toMatchObject({ code: 'aborted', cause: { message: 'shutdown' } });
    expect(results).toMatchObject([
      { outcome: 'credited' },
      { outcome: 'credited' },
      { reference: 'r-2', error: { code: 'aborted' } },
    ]);
    await vi.waitFor(() => {
      expect(closed).toBe(true);
    }, 10_000);
  });

  it('rejects on abort while the references hang', async () => {
    const references = { [Symbol.asyncIterator]: () => ({ next: () => new Promise<never>(() => undefined) }) };
    const run = reconcile({
      client: reader(),
      references,
      idempotency: memoryStore(),
      onSuccess: () => undefined,
      signal: AbortSignal.timeout(20),
    });
    expect(await failure(run)).toMatchObject({ code: 'aborted' });
  });

  it('rejects with what the references threw, once nothing runs any more', async () => {
    const fault = new Error('the cursor is gone');
    const results: unknown[] = [];
    function* references(): Generator<string> {
      yield 'a';
      throw fault;
    }
    const run = reconcile({
      client: reader(),
      references: references(),
      idempotency: memoryStore(),
      onSuccess: () => undefined,
      onResult: (result) => results.push(result),
    });
    expect(await failure(run)).toBe(fault);
    expect(results).toEqual([{ reference: 'a', outcome: 'credited' }]);
  });
});

describe('the options', () => {
  const good = { client: reader(), references: ['r'], idempotency: memoryStore(), onSuccess: () => undefined };

  it.each([
    ['client', undefined],
    ['client', {}],
    ['client', null],
    ['references', undefined],
    ['references', null],
    ['references', 7],
    ['references', 'order-42'],
    ['references', { length: 1 }],
    ['idempotency', undefined],
    ['idempotency', {}],
    ['idempotency', { store: memoryStore() }],
    ['idempotency', { store: {}, key: () => 'x' }],
    ['onSuccess', undefined],
    ['concurrency', 0],
    ['concurrency', 101],
    ['concurrency', '4'],
    ['timeout', 0],
    ['timeout', Infinity],
    ['signal', {}],
    ['onResult', 'log'],
    ['onProgress', 'log'],
    ['deadline', 0],
    ['onsuccess', () => undefined],
  ])('are refused by name: %s is %o', async (option, value) => {
    const error = await failure(reconcile({ ...good, [option]: value }));
    expect(error).toBeInstanceOf(ConfigurationError);
    expect(error).toMatchObject({ option });
  });

  it('has an error for a key that is none', async () => {
    const report = await reconcile({ ...good, idempotency: { store: memoryStore(), key: () => '' } });
    expect(report.errors).toMatchObject([{ error: { message: expect.stringContaining('idempotency.key') as string } }]);
  });
});
