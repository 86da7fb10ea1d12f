import { createReceiver } from '@paylink/core';
import { signedDelivery, TEST_SECRET } from '@paylink/testing';
import { describe, expect, it, vi } from 'vitest';
import {
  createPayments,
  identify,
  memoryStore,
  WebhookError,
  type CreditResult,
  type PaymentOutcome,
  type PaymentStore,
} from '../src/index.js';
import { deferred, failure, quiet, service, succeeded, tick } from './shop.js';

const never = (): Promise<never> => new Promise(() => undefined);

/** Payments whose `credit` gives this result. */
function paymentsWith(credit: (...given: never[]) => unknown, more: object = {}) {
  const client = service();
  const store = memoryStore();
  const options = { client, store, credit: credit as () => CreditResult, logger: quiet };
  return { payments: createPayments({ ...options, ...more }), client, store };
}

const keyOf = async (reference: string, more: object = {}): Promise<string> =>
  (await identify({ kind: 'payment.succeeded', reference, ...more })).key;

describe('a notification', () => {
  it('credits an order after the service confirmed it, with everything that credit needs', async () => {
    const credit = vi.fn((..._given: unknown[]) => 1);
    const { payments, client, store } = paymentsWith(credit);
    const { signal } = new AbortController();
    expect(await payments.receive(succeeded(), { signal })).toEqual({ outcome: 'handled' });
    const payment = { reference: 'order-1', status: 'success', amount: 15_000, currency: 'XOF' };
    const context = { tx: undefined, signal: expect.any(AbortSignal) as AbortSignal };
    expect(credit.mock.calls).toEqual([
      [payment, { ...context, tenant: undefined, source: 'webhook' }],
    ]);
    expect(client.getPayment.mock.calls).toStrictEqual([
      ['order-1', { signal: expect.any(AbortSignal) as AbortSignal, tenant: undefined }],
    ]);
    expect(await store.isDone(await keyOf('order-1'))).toBe(true);
  });

  it('is a duplicate if the order is done, without asking the service', async () => {
    const credit = vi.fn(() => 1);
    const { payments, client } = paymentsWith(credit);
    await payments.receive(succeeded());
    // Other bytes of the same payment (H04).
    const again = succeeded('order-1', { rawBody: new Uint8Array([1]), secretIndex: 1 });
    expect(await payments.receive(again)).toEqual({ outcome: 'duplicate' });
    expect([credit, client.getPayment].map((mock) => mock.mock.calls.length)).toEqual([1, 1]);
  });

  it('credits an order once if its notification comes a hundred times at once', async () => {
    const credit = vi.fn(async () => {
      await tick();
      return 1;
    });
    const { payments } = paymentsWith(credit);
    const received = Array.from({ length: 100 }, () => payments.receive(succeeded()));
    const outcomes = (await Promise.all(received)).map(({ outcome }) => outcome).sort();
    expect(outcomes).toEqual([...Array.from({ length: 99 }, () => 'duplicate'), 'handled']);
    expect(credit).toHaveBeenCalledOnce();
  });

  it('ignores a failed payment without a mark, and credits it if it succeeds later', async () => {
    let status = 'failed';
    const credit = vi.fn(() => 1);
    const { payments } = paymentsWith(credit, { client: service(() => ({ status })) });
    for (status of ['failed', 'cancelled']) {
      expect(await payments.receive(succeeded())).toEqual({ outcome: 'ignored' });
    }
    expect(credit).not.toHaveBeenCalled();
    status = 'success';
    expect(await payments.receive(succeeded())).toEqual({ outcome: 'handled' });
  });

  it('that relabels a genuine event of an unpaid order credits nothing', async () => {
    const credit = vi.fn(() => 1);
    const { payments } = paymentsWith(credit, { client: service({ status: 'pending' }) });
    const error = await failure(payments.receive(succeeded()));
    expect(error).toMatchObject({ code: 'payment_pending', status: 503 });
    expect(credit).not.toHaveBeenCalled();
  });

  it.each([
    ['rejects', new Error('the network is down')],
    ['gives nothing', () => undefined],
    ['gives null', () => null],
    ['gives another reference', { reference: 'order-2' }],
    ['gives an unknown status', { status: 'settled' }],
    ['gives no status', { status: undefined }],
  ])('throws 503 confirm_unavailable if the client %s', async (_, answer) => {
    const credit = vi.fn(() => 1);
    const { payments } = paymentsWith(credit, { client: service(answer) });
    const error = await failure(payments.receive(succeeded()));
    expect(error).toMatchObject({ code: 'confirm_unavailable', status: 503 });
    if (answer instanceof Error) expect(error.cause).toBe(answer);
    expect(credit).not.toHaveBeenCalled();
  });

  it('goes from an HTTP receiver to the credit, and its error to the reply and the log', async () => {
    const logger = { warn: vi.fn(), error: vi.fn() };
    let rows = 0;
    const { payments } = paymentsWith(() => rows);
    const receiver = createReceiver({ secret: TEST_SECRET, logger }, payments);
    const send = async (): Promise<number> => {
      const { headers, rawBody } = signedDelivery({ secret: TEST_SECRET, reference: 'order-1' });
      const delivery = {
        method: 'POST',
        header: (name: string) => headers[name],
        body: () => Promise.resolve(rawBody),
      };
      return (await receiver.receive(delivery, {})).status;
    };
    expect(await send()).toBe(503);
    expect(logger.error).toHaveBeenCalledOnce();
    expect(logger.error.mock.calls[0]![0]).toMatch(/503 not_credited: .*credit changed no row/);
    rows = 1;
    expect([await send(), await send()]).toEqual([200, 200]);
  });

  it.each([undefined, null, 'payment.succeeded', {}, { type: 7 }, { type: 'unrecognized' }])(
    'that is %o is refused as no event',
    async (event) => {
      const { payments } = paymentsWith(() => 1);
      const error = await failure(payments.receive(event as never));
      expect(error).toMatchObject({ option: 'event' });
    },
  );

  it.each(['', '  ', 'a\0b', 'a\ud800', 7, null])(
    'of the reference %o is refused before the store or the client is asked',
    async (reference) => {
      const { payments, client } = paymentsWith(() => 1);
      const error = await failure(payments.receive(succeeded(reference as string)));
      expect(error).toMatchObject({ code: 'invalid_reference', status: 400 });
      expect(client.getPayment).not.toHaveBeenCalled();
    },
  );
});

it('identify gives no two orders one key, and rejects kinds that the service cannot send', async () => {
  const error = await failure(identify({ kind: 'a:b', reference: 'c' }));
  expect(error).toMatchObject({ code: 'invalid_kind', status: 400 });
  expect(await keyOf('b:c', { kind: 'a' })).not.toBe(await keyOf('c', { kind: 'a.b' }));
});

describe('the result of credit', () => {
  it.each([1, 2, 1n, 40n])('%o commits', async (result) => {
    const { payments } = paymentsWith(() => result);
    expect(await payments.receive(succeeded())).toEqual({ outcome: 'handled' });
    expect(await payments.receive(succeeded())).toEqual({ outcome: 'duplicate' });
  });

  it("'already_credited' commits the mark without a credit", async () => {
    const credit = vi.fn(() => Promise.resolve('already_credited'));
    const { payments, store } = paymentsWith(credit);
    expect(await payments.receive(succeeded())).toEqual({ outcome: 'duplicate' });
    expect(await store.isDone(await keyOf('order-1'))).toBe(true);
    expect(await payments.receive(succeeded())).toEqual({ outcome: 'duplicate' });
    expect(credit).toHaveBeenCalledOnce();
  });

  it.each<[unknown, RegExp]>([
    [0, /changed no row \(no such order yet, another amount or currency, or a WHERE that does not/],
    [0n, /changed no row/],
    [-1, /returned -1: return the number of changed rows/],
    [1.5, /returned 1.5:/],
    [NaN, /returned NaN:/],
    [Infinity, /returned Infinity:/],
    [undefined, /returned undefined: return the number of changed rows/],
    [null, /returned null:/],
    [true, /returned a boolean:/],
    ['1', /returned a string:/],
    ['credited', /returned a string:/],
    [Symbol('1'), /returned a symbol:/],
    [{}, /returned an object:/],
    [[1], /returned an object:/],
    [{ rowCount: 1, rows: [] }, /returned a result object: return result\.rowCount instead/],
    [{ count: 1 }, /return result\.count instead/],
    [{ affectedRows: 1 }, /return result\.affectedRows instead/],
    [{ numUpdatedRows: 1n }, /return result\.numUpdatedRows instead/],
    [new Error('no such order'), /returned an Error: throw it instead/],
    [() => 1, /returned a function:/],
  ])('%o is 503 not_credited, leaves no mark and says what to look for', async (value, say) => {
    let result: unknown = value;
    for (const credit of [() => result, async () => result]) {
      result = value;
      const { payments, store } = paymentsWith(credit);
      const error = await failure(payments.receive(succeeded('order "7"')));
      expect(error).toMatchObject({ code: 'not_credited', status: 503 });
      expect(error.message).toMatch(say);
      expect(error.message).toContain('for the order "order \\"7\\"". Nothing was committed');
      if (value instanceof Error) expect(error.cause).toBe(value);
      expect(await store.isDone(await keyOf('order "7"'))).toBe(false);
      result = 1;
      expect(await payments.receive(succeeded('order "7"'))).toEqual({ outcome: 'handled' });
    }
  });

  it('fails with 503 not_credited if it is a hostile object', async () => {
    const has = (): never => {
      throw new Error('of the proxy');
    };
    const { payments } = paymentsWith(() => new Proxy({}, { has }));
    expect(await failure(payments.receive(succeeded()))).toMatchObject({ code: 'not_credited' });
  });

  it('judges the result on each run if the store runs the credit again', async () => {
    const results: CreditResult[] = ['already_credited', 1];
    const again: PaymentStore<undefined> = {
      isDone: () => Promise.resolve(false),
      async run(_key, work) {
        await work(undefined);
        await work(undefined);
        return 'done';
      },
    };
    const credit = vi.fn(() => results.shift());
    const { payments } = paymentsWith(credit, { store: again });
    expect(await payments.receive(succeeded())).toEqual({ outcome: 'handled' });
    results.push(1, 0);
    expect(await failure(payments.receive(succeeded()))).toMatchObject({ code: 'not_credited' });
  });

  it.each([
    new WebhookError('amount_differs', { status: 409 }),
    new WebhookError('in_progress'),
    Object.freeze(new TypeError('frozen')),
    undefined,
    'a string',
  ])('rethrows an error of credit as the same object: %o', async (error) => {
    const { payments, store } = paymentsWith(() => {
      throw error;
    });
    await expect(payments.receive(succeeded())).rejects.toBe(error);
    expect(await store.isDone(await keyOf('order-1'))).toBe(false);
  });
});

describe('events of other kinds', () => {
  const refunded = (more: object = {}) =>
    succeeded('order-1', { type: 'payment.refunded', ...more });

  it('run once in the same store, without asking the service', async () => {
    const handler = vi.fn((..._given: unknown[]) => undefined);
    const { payments, client } = paymentsWith(() => 1, {
      handlers: { 'payment.refunded': handler },
    });
    const event = refunded({ tenant: 'acme' });
    expect(await payments.receive(event)).toEqual({ outcome: 'handled' });
    expect(await payments.receive(event)).toEqual({ outcome: 'duplicate' });
    const context = { tx: undefined, signal: expect.any(AbortSignal) as object, tenant: 'acme' };
    expect(handler.mock.calls).toStrictEqual([[event, context]]);
    expect(client.getPayment).not.toHaveBeenCalled();
    // The success of the same order has a key of its own.
    expect(await payments.receive(succeeded('order-1', { tenant: 'acme' }))).toEqual({
      outcome: 'handled',
    });
  });

  it('that a receiver does not know go to the handler of the kind that was sent', async () => {
    const handler = vi.fn();
    const { payments } = paymentsWith(() => 1, { handlers: { 'payment.refunded': handler } });
    const event = refunded({ type: 'unrecognized', kind: 'payment.refunded' });
    expect(await payments.receive(event)).toEqual({ outcome: 'handled' });
    expect(await payments.receive(refunded())).toEqual({ outcome: 'duplicate' });
  });

  it('reach their handlers through a receiver without the option `events`', async () => {
    const handler = vi.fn();
    const { payments } = paymentsWith(() => 1, { handlers: { 'payment.refunded': handler } });
    const receiver = createReceiver({ secret: TEST_SECRET }, payments);
    const type = 'payment.refunded';
    const { headers, rawBody } = signedDelivery({ secret: TEST_SECRET, type });
    const header = (name: string): string | undefined => headers[name];
    const reply = await receiver.receive({ header, body: () => Promise.resolve(rawBody) }, {});
    expect(reply.status).toBe(200);
    expect(handler).toHaveBeenCalledOnce();
  });

  it('are ignored without a handler: an inherited name is not a handler', async () => {
    const { payments, store } = paymentsWith(() => 1, { handlers: {} });
    for (const type of ['payment.refunded', 'constructor', '__proto__', 'toString']) {
      expect(await payments.receive(succeeded('order-1', { type }))).toEqual({
        outcome: 'ignored',
      });
    }
    const unrecognized = { type: 'unrecognized', kind: 'hasOwnProperty' };
    const event = succeeded('order-1', unrecognized);
    expect(await payments.receive(event)).toEqual({ outcome: 'ignored' });
    expect(await store.isDone(await keyOf('order-1'))).toBe(false);
  });

  it.each([
    ['throws', new Error('down')],
    ['returns an Error', undefined],
  ])('leave no mark if the handler %s', async (_, thrown) => {
    const returned = new Error('returned');
    const handler = vi.fn(() => {
      if (thrown !== undefined) throw thrown;
      return returned;
    });
    const { payments } = paymentsWith(() => 1, { handlers: { 'payment.refunded': handler } });
    for (let time = 0; time < 2; time++) {
      await expect(payments.receive(refunded())).rejects.toBe(thrown ?? returned);
    }
    expect(handler).toHaveBeenCalledTimes(2);
  });
});

describe('tenants', () => {
  it('have their own key, and their own client that is made at its first use', async () => {
    const clients = new Map<string | undefined, ReturnType<typeof service>>();
    const client = vi.fn((tenant: string | undefined) => {
      const made = service();
      clients.set(tenant, made);
      return made;
    });
    const credits: unknown[] = [];
    const { payments } = paymentsWith(
      ({ reference }: { reference: string }, { tenant }: { tenant: string }) =>
        credits.push([tenant, reference]),
      { client },
    );
    expect(client).not.toHaveBeenCalled();
    for (const tenant of ['acme', 'bolt', 'acme', undefined]) {
      await payments.receive(succeeded('order-1', tenant === undefined ? {} : { tenant }));
    }
    await payments.receive(succeeded('order-2', { tenant: 'acme' }));
    expect(credits).toEqual([
      ['acme', 'order-1'],
      ['bolt', 'order-1'],
      [undefined, 'order-1'],
      ['acme', 'order-2'],
    ]);
    expect(client.mock.calls).toEqual([['acme'], ['bolt'], [undefined]]);
    expect(clients.get('acme')!.getPayment.mock.calls[0]![1]).toMatchObject({ tenant: 'acme' });
  });

  it('that come later leave the marks of the first merchant valid', async () => {
    const credit = vi.fn(() => 1);
    const store = memoryStore();
    const before = paymentsWith(credit, { store }).payments;
    const after = paymentsWith(credit, { store }).payments;
    await before.receive(succeeded());
    // The new release names tenants, and `false` for the first merchant: the event has no tenant.
    expect(await after.receive(succeeded())).toEqual({ outcome: 'duplicate' });
    expect(await after.settle('order-1', { tenant: false })).toMatchObject({ credited: false });
    expect(await after.receive(succeeded('order-1', { tenant: 'bolt' }))).toEqual({
      outcome: 'handled',
    });
    // The old release beside it.
    expect(await before.receive(succeeded())).toEqual({ outcome: 'duplicate' });
    expect(credit).toHaveBeenCalledTimes(2);
  });

  it.each(['', 7, null, true, {}])('that are %o are refused', async (tenant) => {
    const { payments } = paymentsWith(() => 1);
    const refused = { code: 'invalid_tenant' };
    const event = succeeded('order-1', { tenant });
    expect(await failure(payments.receive(event))).toMatchObject(refused);
    const other = { tenant: tenant as string };
    expect(await failure(payments.settle('order-1', other))).toMatchObject(refused);
    expect(await failure(payments.reconcile(['order-1'], other))).toMatchObject(refused);
  });

  it('whose client cannot be made are asked for again by the next delivery', async () => {
    const makers = [
      () => {
        throw new Error('PAYLINK_API_KEY is missing');
      },
      () => Promise.reject(new Error('async')),
      () => undefined,
      () => service(),
    ];
    const client = vi.fn(() => makers.shift()!());
    const { payments } = paymentsWith(() => 1, { client });
    const causes = [
      'PAYLINK_API_KEY is missing',
      /not a promise/,
      /must return an object with get/,
    ];
    for (const cause of causes) {
      const error = await failure(payments.receive(succeeded()));
      expect(error).toMatchObject({ code: 'confirm_unavailable' });
      expect((error.cause as Error).message).toMatch(cause);
    }
    await payments.receive(succeeded());
    expect(client).toHaveBeenCalledTimes(4);
  });
});

describe('time', () => {
  it('over for a receive without a signal is 503 handler_timeout, and aborts the credit', async () => {
    const signals: AbortSignal[] = [];
    const credit = (_: object, { signal }: { signal: AbortSignal }): Promise<never> => {
      signals.push(signal);
      return never();
    };
    const { payments, store } = paymentsWith(credit, { timeout: 20 });
    const error = await failure(payments.receive(succeeded()));
    expect(error).toMatchObject({ code: 'handler_timeout', status: 503 });
    expect(signals[0]).toMatchObject({ aborted: true, reason: error });
    expect(await store.isDone(await keyOf('order-1'))).toBe(false);
  });

  it('does not apply `timeout` if the receiver gives a signal', async () => {
    const end = deferred<number>();
    const { payments } = paymentsWith(() => end.promise, { timeout: 1 });
    const running = payments.receive(succeeded(), { signal: new AbortController().signal });
    await new Promise((resolve) => setTimeout(resolve, 20));
    end.resolve(1);
    expect(await running).toEqual({ outcome: 'handled' });
  });

  it.each(['isDone', 'getPayment', 'run', 'credit'])(
    'that ends during %s starts nothing more',
    async (step) => {
      const controller = new AbortController();
      const reason = new Error('the receiver has answered');
      const resume = deferred();
      const reached = deferred();
      const at = async <T>(name: string, value: T): Promise<T> => {
        if (name !== step) return value;
        reached.resolve();
        await resume.promise;
        return value;
      };
      const memory = memoryStore();
      const steps: string[] = [];
      const note = (name: string) => steps.push(name);
      const store: PaymentStore<undefined> = {
        isDone: async () => (note('isDone'), at('isDone', false)),
        async run(key, work, options) {
          note('run');
          await at('run', undefined);
          return memory.run(key, work, options);
        },
      };
      const client = service(() => (note('getPayment'), at('getPayment', {})));
      const credit = () => (note('credit'), at('credit', 1));
      const { payments } = paymentsWith(credit, { store, client });
      const running = failure(payments.receive(succeeded(), { signal: controller.signal }));
      await reached.promise;
      controller.abort(reason);
      expect(await running).toBe(reason);
      resume.resolve();
      await tick();
      expect(steps.at(-1)).toBe(step);
      expect(await memory.isDone(await keyOf('order-1'))).toBe(false);
    },
  );

  it('that is over before the start starts nothing', async () => {
    const { payments, client } = paymentsWith(() => 1);
    const reason = new Error('gone');
    const running = payments.receive(succeeded(), { signal: AbortSignal.abort(reason) });
    expect(await failure(running)).toBe(reason);
    expect(client.getPayment).not.toHaveBeenCalled();
  });
});

describe('a store', () => {
  const broken = (change: Partial<PaymentStore<undefined>>): PaymentStore<undefined> => ({
    isDone: () => Promise.resolve(false),
    run: async (_key, work) => {
      await work(undefined);
      return 'done';
    },
    ...change,
  });
  const down = new Error('down');

  it.each<[string, Partial<PaymentStore<undefined>>]>([
    ['rejects in isDone', { isDone: () => Promise.reject(down) }],
    ['gives no boolean', { isDone: () => Promise.resolve(undefined as never) }],
    ['rejects in run', { run: () => Promise.reject(down) }],
    ['says done for work that never ran', { run: () => Promise.resolve('done') }],
    ['gives an unknown result', { run: () => Promise.resolve('ok' as never) }],
    [
      'fails after the work succeeded',
      { run: (_key, work) => work(undefined).then(() => Promise.reject(down)) },
    ],
  ])('that %s is 503 store_unavailable', async (_, change) => {
    const { payments } = paymentsWith(() => 1, { store: broken(change) });
    const error = await failure(payments.receive(succeeded()));
    expect(error).toMatchObject({ code: 'store_unavailable', status: 503 });
    if (String(change.isDone ?? change.run).includes('down')) expect(error.cause).toBe(down);
  });

  it('that says done for work that failed is 503 store_unavailable', async () => {
    const store = broken({
      run: (_key, work) =>
        work(undefined).then(
          () => 'done' as const,
          () => 'done' as const,
        ),
    });
    const { payments } = paymentsWith(() => 0, { store });
    expect(await failure(payments.receive(succeeded()))).toMatchObject({
      code: 'store_unavailable',
    });
  });

  it('that refuses with not_credited is heard as it is', async () => {
    const refused = new WebhookError('not_credited', { message: 'a statement was still running' });
    const { payments } = paymentsWith(() => 1, {
      store: broken({ run: () => Promise.reject(refused) }),
    });
    await expect(payments.receive(succeeded())).rejects.toBe(refused);
  });

  it('that says in_progress is 503 in_progress', async () => {
    const { payments } = paymentsWith(() => 1, {
      store: broken({ run: () => Promise.resolve('in_progress') }),
    });
    const error = await failure(payments.receive(succeeded()));
    expect(error).toMatchObject({ code: 'in_progress', status: 503 });
  });
});

describe('observe', () => {
  it('tells observe of each receive, with source and outcome, and observe cannot change it', async () => {
    const outcomes: PaymentOutcome[] = [];
    let rows = 0;
    const observe = (outcome: PaymentOutcome): void => {
      outcomes.push(outcome);
      throw new Error('of the hook');
    };
    const { payments } = paymentsWith(() => rows, { observe });
    await failure(payments.receive(succeeded()));
    rows = 1;
    await payments.receive(succeeded());
    await payments.receive(succeeded('order-1', { type: 'payment.refunded' }));
    const facts = { source: 'webhook', kind: 'payment.succeeded', reference: 'order-1' };
    const durationMs = expect.any(Number) as number;
    expect(outcomes).toEqual([
      { ...facts, tenant: undefined, outcome: 'failed', code: 'not_credited', durationMs },
      { ...facts, tenant: undefined, outcome: 'handled', durationMs },
      { ...facts, kind: 'payment.refunded', tenant: undefined, outcome: 'ignored', durationMs },
    ]);
  });
});
