import { ConfigurationError } from '@paylink/core';
import { describe, expect, it, vi } from 'vitest';
import {
  createPayments,
  memoryStore,
  type CreditResult,
  type PaymentOutcome,
  type PaymentStore,
  type ReconcileProgress,
} from '../src/index.js';
import type { References } from '../src/reconcile/references.js';
import { failure, quiet, service, succeeded } from './shop.js';

function paymentsWith(more: object = {}) {
  const credit = vi.fn((..._given: unknown[]): CreditResult | Promise<CreditResult> => 1);
  const client = service();
  const options = { client, store: memoryStore(), credit, logger: quiet, ...more };
  return { ...createPayments(options), credit, client };
}

const references = (count: number): string[] => Array.from({ length: count }, (_, n) => `r-${n}`);

describe('reconcile', () => {
  it('credits paid orders once, and reports the outcome of each reference', async () => {
    const client = service((reference) =>
      reference === 'nobody' ? new Error('not found') : { status: reference },
    );
    const { reconcile, credit } = paymentsWith({ client });
    const asked = ['success', 'pending', 'failed', 'cancelled', 'refunded', 'nobody', ''];
    const report = await reconcile(asked);
    const unavailable = expect.objectContaining({ code: 'confirm_unavailable' }) as object;
    expect(report).toEqual({
      total: 7,
      credited: ['success'],
      duplicates: [],
      inProgress: [],
      pending: ['pending'],
      failed: ['failed'],
      cancelled: ['cancelled'],
      repeated: [],
      notAsked: [],
      keyRefused: false,
      cursor: undefined,
      errors: expect.arrayContaining([
        { reference: 'refunded', error: unavailable },
        { reference: 'nobody', error: unavailable },
        { reference: '', error: expect.objectContaining({ code: 'invalid_reference' }) as object },
      ]) as object[],
    });
    expect(report.errors).toHaveLength(3);
    expect((await reconcile(asked)).duplicates).toEqual(['success']);
    expect(credit.mock.calls).toEqual([
      [
        expect.objectContaining({ reference: 'success', amount: 15_000 }),
        {
          tx: undefined,
          signal: expect.any(AbortSignal) as AbortSignal,
          tenant: undefined,
          source: 'reconcile',
        },
      ],
    ]);
  });

  it('never credits the payment of another reference, even if the client returns one', async () => {
    for (const answer of [{ reference: 'other' }, { reference: undefined }, () => null]) {
      const { reconcile, credit } = paymentsWith({ client: service(answer) });
      expect((await reconcile(['r'])).errors).toMatchObject([
        { reference: 'r', error: { code: 'confirm_unavailable' } },
      ]);
      expect(credit).not.toHaveBeenCalled();
    }
  });

  it('ends after a refused key, and asks nothing more', async () => {
    const client = service((reference) =>
      reference === 'r-0' ? Object.assign(new Error('refused'), { status: 401 }) : {},
    );
    const { reconcile } = paymentsWith({ client });
    for (const asked of [references(50), new Set(references(50))]) {
      client.getPayment.mockClear();
      const report = await reconcile(asked, { concurrency: 1, cursor: '0:r-0' });
      expect(report).toMatchObject({ keyRefused: true, credited: [], cursor: '1:r-1' });
      expect(report.errors).toMatchObject([{ reference: 'r-0' }]);
      expect(client.getPayment).toHaveBeenCalledOnce();
    }
  });

  it('reports each error as it occurs, and then logs none', async () => {
    const logger = { warn: vi.fn(), error: vi.fn() };
    const { reconcile, credit } = paymentsWith({ logger });
    const broken = new Error('no such table');
    credit.mockRejectedValue(broken);
    const onError = vi.fn();
    await reconcile(['r', ''], { onError });
    expect(onError.mock.calls).toEqual(
      expect.arrayContaining([
        [{ reference: 'r', error: broken }],
        [
          {
            reference: '',
            error: expect.objectContaining({ code: 'invalid_reference' }) as object,
          },
        ],
      ]),
    );
    expect(logger.error).not.toHaveBeenCalled();
    await reconcile(['r']);
    expect(logger.error).toHaveBeenCalledOnce();
  });

  it('asks neither the store nor the client for an invalid reference', async () => {
    const store = { isDone: vi.fn(), run: vi.fn() };
    const { reconcile, client } = paymentsWith({ store });
    const { errors } = await reconcile(['', 'a\0b', '\ud800', 7 as unknown as string]);
    expect(errors).toHaveLength(4);
    for (const { error } of errors) expect(error).toMatchObject({ code: 'invalid_reference' });
    expect(store.isDone).not.toHaveBeenCalled();
    expect(client.getPayment).not.toHaveBeenCalled();
  });

  it('asks the store first, so that a credited order costs no request', async () => {
    const { reconcile, receive, client } = paymentsWith();
    await receive(succeeded('r'));
    client.getPayment.mockClear();
    expect((await reconcile(['r'])).duplicates).toEqual(['r']);
    expect(client.getPayment).not.toHaveBeenCalled();
  });

  it('credits an order once if its reference is listed twice, and reports the repetition', async () => {
    const { reconcile, credit } = paymentsWith();
    const report = await reconcile(['a', 'b', 'a', 'a'], { cursor: '0:a', concurrency: 1 });
    expect(report).toMatchObject({ total: 4, credited: ['a', 'b'], repeated: ['a', 'a'] });
    expect(credit).toHaveBeenCalledTimes(2);
  });

  it('continues if one order fails, logs the failure, and credits the order in the next run', async () => {
    const logger = { warn: vi.fn(), error: vi.fn() };
    const { reconcile, credit } = paymentsWith({ logger });
    const fault = new Error('no such order');
    let broken = true;
    credit.mockImplementation((payment) => {
      if (broken && (payment as { reference: string }).reference === 'b') throw fault;
      return 1;
    });
    const report = await reconcile(['a', 'b', 'c']);
    expect([...report.credited].sort()).toEqual(['a', 'c']);
    expect(report.errors).toEqual([{ reference: 'b', error: fault }]);
    expect(logger.error).toHaveBeenCalledOnce();
    expect(logger.error.mock.calls[0]![0]).toContain('reconcile of "b": no such order');
    broken = false;
    const { credited, duplicates, errors } = await reconcile(['a', 'b', 'c']);
    expect([credited, [...duplicates].sort(), errors]).toEqual([['b'], ['a', 'c'], []]);
  });

  it.each<[CreditResult | undefined, object]>([
    [0, { errors: [{ reference: 'r', error: { code: 'not_credited' } }], credited: [] }],
    [undefined, { errors: [{ reference: 'r', error: { code: 'not_credited' } }], credited: [] }],
    ['already_credited', { errors: [], credited: [], duplicates: ['r'] }],
    [1n, { errors: [], credited: ['r'] }],
  ])('judges the result %o of credit as the webhook does', async (result, report) => {
    const { reconcile, credit } = paymentsWith();
    credit.mockReturnValue(result!);
    expect(await reconcile(['r'])).toMatchObject(report);
  });

  it('reports an order that another process credits at this moment', async () => {
    const store: PaymentStore<undefined> = {
      isDone: () => Promise.resolve(false),
      run: () => Promise.resolve('in_progress'),
    };
    const { reconcile } = paymentsWith({ store });
    expect(await reconcile(['r'])).toMatchObject({ inProgress: ['r'], errors: [] });
  });

  it.each<[string, Partial<PaymentStore<undefined>>, string]>([
    ['cannot be read', { isDone: () => Promise.reject(new Error('down')) }, 'store_unavailable'],
    ['hangs', { isDone: () => new Promise(() => undefined) }, 'store_unavailable'],
    ['cannot run', { run: () => Promise.reject(new Error('down')) }, 'store_unavailable'],
    ['hangs in run', { run: () => new Promise(() => undefined) }, 'handler_timeout'],
  ])('has an error for each order if the store %s', async (_, change, code) => {
    const store = { ...memoryStore(), ...change };
    const { reconcile } = paymentsWith({ store, timeout: 20 });
    expect((await reconcile(['r'])).errors).toMatchObject([{ reference: 'r', error: { code } }]);
  });

  it('ends a hanging request after `timeout`, and a hanging credit with its signal', async () => {
    const hanging = paymentsWith({
      client: service(() => new Promise(() => undefined)),
      timeout: 20,
    });
    expect((await hanging.reconcile(['r'])).errors).toMatchObject([
      { error: { code: 'confirm_unavailable' } },
    ]);
    const { reconcile, credit } = paymentsWith({ timeout: 20 });
    credit.mockReturnValue(new Promise(() => undefined));
    expect((await reconcile(['r'])).errors).toMatchObject([{ error: { code: 'handler_timeout' } }]);
    const { signal } = credit.mock.calls[0]![1] as { signal: AbortSignal };
    expect(signal.aborted).toBe(true);
    credit.mockReturnValue(1);
    expect((await reconcile(['r'])).credited).toEqual(['r']);
  });

  it('asks as one tenant, with the tenant’s key', async () => {
    const { reconcile, receive, client, credit } = paymentsWith();
    await receive(succeeded('r', { tenant: 'acme' }));
    client.getPayment.mockClear();
    expect((await reconcile(['r'], { tenant: 'acme' })).duplicates).toEqual(['r']);
    expect((await reconcile(['r'], { tenant: 'bolt' })).credited).toEqual(['r']);
    expect((await reconcile(['r'], { tenant: false })).credited).toEqual(['r']);
    const signal = expect.any(AbortSignal) as AbortSignal;
    expect(client.getPayment.mock.calls).toStrictEqual([
      ['r', { signal, tenant: 'bolt', retryLimited: false }],
      ['r', { signal, tenant: undefined, retryLimited: false }],
    ]);
    const tenants = credit.mock.calls.map(([, context]) => (context as { tenant: unknown }).tenant);
    expect(tenants).toEqual(['acme', 'bolt', undefined]);
  });

  it('reports each credit that it starts to observe, and nothing else', async () => {
    const outcomes: PaymentOutcome[] = [];
    const { reconcile } = paymentsWith({
      observe: (outcome: PaymentOutcome) => outcomes.push(outcome),
      client: service((reference) => ({ status: reference })),
    });
    await reconcile(['success', 'pending']);
    await reconcile(['success', 'pending']);
    expect(outcomes).toMatchObject([{ source: 'reconcile', outcome: 'handled' }]);
  });
});

describe('the references of a run', () => {
  it('are read as places become free, and no more than `concurrency` are under way', async () => {
    let given = 0;
    let running = 0;
    let most = 0;
    let ended = 0;
    async function* streamed(): AsyncGenerator<string> {
      while (given < 20) {
        expect(given - ended).toBeLessThanOrEqual(3);
        yield `r-${++given}`;
      }
    }
    const client = service(async () => {
      most = Math.max(most, ++running);
      await new Promise((resolve) => setImmediate(resolve));
      running--;
      ended++;
      return {};
    });
    const { reconcile } = paymentsWith({ client });
    const report = await reconcile(streamed(), { concurrency: 3 });
    expect([report.credited.length, most]).toEqual([20, 3]);
  });

  it('end with an abort: the run rejects with its reason, and closes the source', async () => {
    const controller = new AbortController();
    const reason = new Error('shutdown');
    let closed = false;
    async function* streamed(): AsyncGenerator<string> {
      try {
        for (let index = 0; ; index++) yield `r-${index}`;
      } finally {
        closed = true;
      }
    }
    const progress: ReconcileProgress[] = [];
    const signals: AbortSignal[] = [];
    const client = service((reference, { signal }) => {
      if (reference !== 'r-2') return {};
      signals.push(signal);
      setImmediate(() => controller.abort(reason));
      return new Promise(() => undefined);
    });
    const { reconcile, credit } = paymentsWith({ client });
    const { signal } = controller;
    const options = {
      concurrency: 1,
      signal,
      onProgress: (p: ReconcileProgress) => progress.push(p),
    };
    expect(await failure(reconcile(streamed(), options))).toBe(reason);
    expect(credit).toHaveBeenCalledTimes(2);
    expect(signals[0]!.aborted).toBe(true);
    await vi.waitUntil(() => closed);
  });

  it('may hang: an abort ends the run', async () => {
    const hanging = {
      [Symbol.asyncIterator]: () => ({ next: () => new Promise<never>(() => undefined) }),
    };
    const { reconcile } = paymentsWith();
    const running = reconcile(hanging, { signal: AbortSignal.timeout(20) });
    expect(await failure(running)).toMatchObject({ name: 'TimeoutError' });
  });

  it('end the run at its deadline if none comes, and the next run starts at the last one', async () => {
    async function* slow(): AsyncGenerator<string> {
      yield 'a';
      yield 'b';
      await new Promise(() => undefined);
    }
    const { reconcile } = paymentsWith();
    const report = await reconcile(slow(), { deadline: 200 });
    expect(report).toMatchObject({ total: 2, cursor: '1:b' });
    expect([...report.credited].sort()).toEqual(['a', 'b']);
    const nothing = await reconcile(
      { [Symbol.asyncIterator]: () => ({ next: () => new Promise<never>(() => undefined) }) },
      { deadline: 50 },
    );
    expect(nothing).toMatchObject({ total: 0, cursor: '0:' });
    const whole = await reconcile(['a', 'b', 'c'].values(), { cursor: nothing.cursor });
    expect(whole).toMatchObject({ total: 3, credited: ['c'], cursor: undefined });
  });

  it('may throw: the run rejects with that error, once nothing runs any more', async () => {
    const fault = new Error('the database cursor is gone');
    function* broken(): Generator<string> {
      yield 'a';
      throw fault;
    }
    const { reconcile, credit } = paymentsWith();
    expect(await failure(reconcile(broken()))).toBe(fault);
    expect(credit).toHaveBeenCalledOnce();
  });

  it('of nothing give an empty report', async () => {
    const { reconcile } = paymentsWith();
    for (const none of [[], new Set<string>()]) {
      expect(await reconcile(none)).toMatchObject({ total: 0, credited: [], cursor: undefined });
    }
  });
});

describe('the options of a run', () => {
  it.each<[string, unknown]>([
    ['concurrency', 0],
    ['concurrency', 101],
    ['concurrency', '4'],
    ['signal', {}],
    ['onProgress', 'log'],
    ['deadline', 0],
    ['references', []],
    ['onResult', () => undefined],
  ])('are refused by name: %s is %o', async (option, value) => {
    const { reconcile } = paymentsWith();
    const error = await failure(reconcile(['r'], { [option]: value }));
    expect(error).toBeInstanceOf(ConfigurationError);
    expect(error).toMatchObject({ option });
  });

  it.each([undefined, null, 7, 'order-42', { length: 1 }])(
    'are refused if the references are %o',
    async (given) => {
      const { reconcile } = paymentsWith();
      const error = await failure(reconcile(given as unknown as References));
      expect(error).toMatchObject({ option: 'references' });
    },
  );

  it.each(['', 'order-42', '-1:a', 'x:a', 'x1:a', `${'1'.repeat(16)}:a`, 7, ['1:a']])(
    'are refused if the cursor is %o',
    async (cursor) => {
      const { reconcile } = paymentsWith();
      const error = await failure(reconcile(references(1), { cursor: cursor as string }));
      expect(error).toMatchObject({ option: 'cursor' });
    },
  );
});
