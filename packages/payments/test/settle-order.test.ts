import { createReceiver, sign } from '@paylink/core';
import { describe, expect, it, vi } from 'vitest';
import { createPayments, memoryOrders, WebhookError, type Order } from '../src/index.js';
import {
  deferred,
  failure,
  log,
  openMany,
  openShop,
  REFERENCE,
  service,
  succeeded,
  tick,
  type ShopOptions,
} from './shop.js';

describe('a delivery', () => {
  it('costs two reads beside the one write, one question and no line of the log', async () => {
    const { payments, find, credit, client, isPaid, logger } = openShop();
    await payments.receive(succeeded());
    expect(logger.error).not.toHaveBeenCalled();
    expect([find, credit, client.getPayment].map((each) => each.mock.calls.length)).toEqual([
      2, 1, 1,
    ]);
    expect(await isPaid()).toBe(true);
  });

  it(
    'costs one read and no question after the order is paid',
    { tags: ['H01', 'H03', 'H11'] },
    async () => {
      const { payments, find, credit, client } = openShop();
      await payments.receive(succeeded());
      for (const each of [find, credit, client.getPayment]) each.mockClear();
      await payments.receive(succeeded());
      expect([find, credit, client.getPayment].map((each) => each.mock.calls.length)).toEqual([
        1, 0, 0,
      ]);
    },
  );

  it('gives credit the payment, the tenant, a signal and the source', async () => {
    const { payments, credit } = openShop();
    await payments.receive(succeeded());
    expect(credit).toHaveBeenCalledWith(
      { reference: REFERENCE, amount: 1_000, currency: 'XOF' },
      { tenant: null, signal: expect.any(AbortSignal) as unknown, source: 'webhook' },
    );
  });

  it('calls the functions of an object of a class as its methods', async () => {
    class Shop {
      #isPaid = false;
      readonly pool = 'a field beside the functions';
      find(reference: string): Order {
        return { reference, amount: 1_000n, currency: 'XOF', paid: this.#isPaid };
      }
      credit(): number {
        this.#isPaid = true;
        return 1;
      }
    }
    const payments = createPayments({ client: service(), orders: new Shop() });
    expect(await payments.settle(REFERENCE)).toMatchObject({ status: 'paid' });
  });
});

describe('a row that says unpaid after credit', { tags: 'P01' }, () => {
  it.each([[1], [true], [undefined], [{ rowCount: 1 }], [null], [20n], ['1'], [0]])(
    'is 503 not_credited although credit returned %s',
    async (returned) => {
      const { payments } = openShop({ orders: { credit: () => returned as unknown as number } });
      const error = await failure(payments.receive(succeeded()));
      expect(error).toMatchObject({ code: 'not_credited', status: 503 });
      expect(error.message).toMatch(
        returned === 0 ? /changed no row.*condition/ : /`await` or COMMIT.*trigger.*replica/,
      );
    },
  );
});

describe('what credit returns', () => {
  it.each([0, 0n])('labels the outcome paid if it is %s', async (returned) => {
    const { memory, ...shop } = openShop();
    shop.credit.mockImplementation(async (...call) => {
      await memory.orders.credit(...call);
      return returned;
    });
    expect((await shop.payments.reconcile([REFERENCE])).paid.count).toBe(1);
  });

  it('is logged as several orders of one reference if it is above 1', { tags: 'P28' }, async () => {
    const { memory, ...shop } = openShop();
    shop.credit.mockImplementation(async (...call) => {
      await memory.orders.credit(...call);
      return 2;
    });
    const reference = `a\n[paylink] paid${'x'.repeat(300)}`;
    memory.add({ reference, amount: 1_000, currency: 'XOF' });
    await shop.payments.receive(succeeded(reference));
    expect(shop.logger.error).toHaveBeenCalledOnce();
    const [line, fields] = shop.logger.error.mock.calls[0]! as [string, object];
    expect(line).toMatch(
      /changed 2 rows for the order "a\\n\[paylink\] paidx{1,184}": if several orders/,
    );
    expect(fields).toEqual({ code: 'not_credited', reference: reference.slice(0, 200) });
  });

  it.each([[undefined], [true], [{ count: 1 }], ['1']])(
    'is warned of once if it is %s',
    async (returned) => {
      const { memory, ...shop } = openShop();
      memory.add({ reference: 'order-2', amount: 1_000, currency: 'XOF' });
      shop.credit.mockImplementation(async (...call) => {
        await memory.orders.credit(...call);
        return returned as unknown as number;
      });
      await shop.payments.receive(succeeded());
      await shop.payments.receive(succeeded('order-2'));
      expect(shop.logger.warn).toHaveBeenCalledOnce();
      expect(shop.logger.error).not.toHaveBeenCalled();
    },
  );
});

describe('a row that comes back paid and closed', () => {
  it('is acknowledged, and logged as order_closed for a person', { tags: 'Q12' }, async () => {
    const row = { ...ROW, closed: false };
    const { payments, logger } = openShop({
      orders: {
        find: () => ({ ...row }),
        credit() {
          // The merchant closed the order while Paylink asked the service.
          Object.assign(row, { paid: true, closed: true });
          return 1;
        },
      },
    });
    await payments.receive(succeeded());
    expect(logger.error).toHaveBeenCalledOnce();
    expect(logger.error).toHaveBeenCalledWith(
      expect.stringMatching(/order_closed: webhook of "order-1": the order was closed while/),
      expect.objectContaining({ code: 'order_closed', reference: REFERENCE }),
    );
    await payments.receive(succeeded());
    expect(logger.error).toHaveBeenCalledOnce();
  });
});

describe('an error of find', () => {
  it.each<readonly [string, unknown, string]>([
    ['a text', 'no connection', 'no connection'],
    ['a plain object', { message: 'no right', code: '42501' }, 'no right'],
    [
      'an Error without a message',
      Object.assign(new AggregateError([]), { code: 'ECONNREFUSED' }),
      'ECONNREFUSED',
    ],
  ])('is in the log and in explain: %s', async (_what, thrown, text) => {
    const { payments, find, logger } = openShop();
    find.mockRejectedValue(thrown);
    expect((await payments.settle(REFERENCE)).status).toBe('unavailable');
    expect(logger.error.mock.calls[0]![0]).toContain('find() threw');
    expect(logger.error.mock.calls[0]![0]).toContain(text);
    expect((await payments.explain(REFERENCE)).reason).toContain(`find() threw: ${text}`);
  });
});

describe('an error of credit', { tags: ['P04', 'P24'] }, () => {
  it('is logged once if the row says paid, and the delivery is acknowledged', async () => {
    const { memory, ...shop } = openShop();
    shop.credit.mockImplementation(async (...call) => {
      await memory.orders.credit(...call);
      throw new Error('the wallet is locked');
    });
    await shop.payments.receive(succeeded());
    expect(shop.logger.error).toHaveBeenCalledOnce();
    expect(shop.logger.error.mock.calls[0]![0]).toMatch(/credit\(\) threw.*the wallet is locked/);
  });

  it('is logged too if find then throws', async () => {
    const { payments, find, credit, logger } = openShop();
    credit.mockImplementation(() => {
      find.mockRejectedValueOnce(new Error('no connection'));
      throw new Error('the wallet is locked');
    });
    expect((await failure(payments.receive(succeeded()))).code).toBe('orders_unavailable');
    expect(logger.error.mock.calls[0]![0]).toContain('the wallet is locked');
  });

  it('is logged if it comes after the run has ended', async () => {
    const locked = deferred();
    const { payments, credit, logger } = openShop({ timeout: 200 });
    credit.mockImplementation(() => locked.promise as never);
    expect((await failure(payments.receive(succeeded()))).code).toBe('handler_timeout');
    locked.reject(new Error('the lock was not granted'));
    await vi.waitFor(() => expect(logger.error).toHaveBeenCalledOnce());
    expect(logger.error.mock.calls[0]![0]).toContain('the lock was not granted');
  });

  it('is the cause of 503 orders_unavailable if the row says unpaid', async () => {
    const cause = new WebhookError('amount_differs');
    const { payments } = openShop({ orders: { credit: () => Promise.reject(cause) } });
    const error = await failure(payments.receive(succeeded()));
    expect(error).toMatchObject({ code: 'orders_unavailable', cause });
  });
});

const ROW = { reference: REFERENCE, amount: 1_000, currency: 'XOF', paid: false };

describe('a row that is invalid_order', { tags: 'P07' }, () => {
  it.each([
    ['paid', { paid: 'f' }],
    ['paid', { paid: 0 }],
    ['paid', { paid: 1 }],
    ['paid', { paid: undefined }],
    ['paid', { paid: null }],
    ['amount', { amount: undefined }],
    ['amount', { amount: NaN }],
    ['amount', { amount: 0 }],
    ['amount', { amount: -1_000 }],
    ['amount', { amount: 1_000.5 }],
    ['amount', { amount: 2 ** 53 }],
    ['amount', { amount: '500.5' }],
    ['amount', { amount: '0x1f4' }],
    ['amount', { amount: ' 1000' }],
    ['amount', { amount: '' }],
    ['amount', { amount: '1e3' }],
    ['amount', { amount: -1n }],
    ['amount', { amount: null }],
    ['amount', { amount: { min: 2, max: 1 } }],
    ['amount', { amount: { min: -1, max: 1 } }],
    ['amount', { amount: { min: 1 } }],
    ['currency', { currency: undefined }],
    ['currency', { currency: '' }],
    ['currency', { currency: 952 }],
    ['closed', { closed: null }],
    ['closed', { closed: 'no' }],
  ])('has `%s` in %o', async (name, fields) => {
    const { payments, client } = openShop({
      orders: { find: () => ({ ...ROW, ...fields }) as never },
    });
    const error = await failure(payments.receive(succeeded()));
    expect(error).toMatchObject({ code: 'invalid_order', status: 500 });
    expect(error.message).toContain(`\`${name}\``);
    expect(client.getPayment).not.toHaveBeenCalled();
  });

  it('also after its credit', async () => {
    const { payments, find } = openShop();
    find.mockReturnValueOnce(ROW).mockReturnValueOnce({ ...ROW, paid: 1 as never });
    const error = await failure(payments.receive(succeeded()));
    expect(error).toMatchObject({
      code: 'invalid_order',
      message: expect.stringContaining('`paid`') as string,
    });
  });

  it('unless it says paid, which wins over every field but the reference', async () => {
    const row = { reference: REFERENCE, paid: true };
    const { payments } = openShop({ orders: { find: () => row as Order } });
    await expect(payments.receive(succeeded())).resolves.toBeUndefined();
  });

  it('is no object', async () => {
    const { payments } = openShop({ orders: { find: () => true as never } });
    expect(await failure(payments.receive(succeeded()))).toMatchObject({ code: 'invalid_order' });
  });

  it('takes no field from Object.prototype', async () => {
    Object.defineProperty(Object.prototype, 'paid', {
      value: true,
      configurable: true,
      writable: true,
    });
    try {
      const { payments } = openShop({
        orders: { find: () => ({ reference: REFERENCE, amount: 1, currency: 'XOF' }) as never },
      });
      expect(await failure(payments.receive(succeeded()))).toMatchObject({ code: 'invalid_order' });
    } finally {
      delete (Object.prototype as { paid?: unknown }).paid;
    }
  });

  it('may have the getters of an entity', async () => {
    class Entity {
      readonly #paid = true;
      get reference(): string {
        return REFERENCE;
      }
      get paid(): boolean {
        return this.#paid;
      }
    }
    const { payments } = openShop({ orders: { find: () => new Entity() as never } });
    await expect(payments.receive(succeeded())).resolves.toBeUndefined();
  });
});

describe('amounts', () => {
  it.each([1_000, 1_000n, '1000', '1000.00', '01000'])('match exactly as %s', async (amount) => {
    const { payments } = openShop({ amount });
    expect(await payments.settle(REFERENCE)).toMatchObject({ status: 'paid' });
  });

  it.each([1_001, 9_007_199_254_740_993n, '1001.0', 1])(
    'are 409 with a line that names the amount, and a page gets the payment, if the order has %s',
    async (amount) => {
      const { payments } = openShop({ amount });
      const error = await failure(payments.receive(succeeded()));
      expect(error).toMatchObject({ code: 'amount_differs', status: 409 });
      expect(error.message).toMatch(/took the amount 1000, and the order has \d+/);
      expect((await payments.settle(REFERENCE)).payment).toMatchObject({ amount: 1_000 });
    },
  );

  it.each([
    ['inside', 1_000, undefined],
    ['at the lower end of', 500, undefined],
    ['at the upper end of', 2_000, undefined],
    ['below', 499, 'amount_differs'],
    ['above', 2_001, 'amount_differs'],
  ])('may lie %s the bounds of a free link', { tags: 'P09' }, async (_, paid, code) => {
    const { payments, credit } = openShop({
      answer: { amount: paid },
      amount: { min: 500n, max: '2000.00' },
    });
    if (code === undefined) await payments.receive(succeeded());
    else expect(await failure(payments.receive(succeeded()))).toMatchObject({ code });
    if (code === undefined) expect(credit.mock.calls[0]![0].amount).toBe(paid);
    else expect(credit).not.toHaveBeenCalled();
  });

  it.each(['EUR', 'xof', 'XOF '])(
    'are 409 with a line that names the currency %s',
    { tags: ['O19', 'P32'] },
    async (currency) => {
      const error = await failure(openShop({ answer: { currency } }).payments.receive(succeeded()));
      expect(error).toMatchObject({ code: 'amount_differs', status: 409 });
      expect(error.message).toContain(`currency "${currency}"`);
    },
  );
});

describe('a service whose nonsense is confirm_unavailable', { tags: 'P32' }, () => {
  it.each([
    { amount: undefined },
    { amount: NaN },
    { amount: 'abc' },
    { amount: '1000' },
    { amount: 0 },
    { amount: -5 },
    { amount: 1.5 },
    { amount: 2 ** 53 },
    { currency: undefined },
    { currency: '' },
    { reference: 'order-2' },
    { status: 'succeeded' },
    { status: 'unknown' },
    { status: undefined },
    { type: 'refund' },
    { type: 'transfer' },
  ])('has a payment with %o', async (answer) => {
    const { payments, credit } = openShop({ answer });
    const error = await failure(payments.receive(succeeded()));
    expect(error).toMatchObject({ code: 'confirm_unavailable', status: 503 });
    expect(credit).not.toHaveBeenCalled();
  });

  it.each([[undefined], [null], ['success']])('answers with %s', async (answer) => {
    const shop: ShopOptions = { answer: () => answer };
    const client = { getPayment: async () => answer as never };
    const { memory, logger } = openShop(shop);
    const payments = createPayments({ client, logger, orders: memory.orders });
    expect(await failure(payments.receive(succeeded()))).toMatchObject({
      code: 'confirm_unavailable',
    });
  });
});

describe('a row of another reference, which is unknown_order', { tags: 'P27' }, () => {
  it.each([
    ['order-1', 'ORDER-1'],
    ['A1 ', 'A1'],
    ['caf\u00e9', 'cafe\u0301'],
    ['042', '42'],
    ['42abc', 42],
    ['42.0', 42],
    ['order-1', undefined],
  ])('has %j instead of %j', async (asked, stored) => {
    const row = { ...ROW, reference: stored, paid: true };
    const { payments, client } = openShop({ orders: { find: () => row as never } });
    expect(await failure(payments.receive(succeeded(asked)))).toMatchObject({
      code: 'unknown_order',
    });
    expect(client.getPayment).not.toHaveBeenCalled();
  });

  it.each(['', ' ', 'a\0b', '\ud800'])(
    'needs no find for %j, which cannot be a reference',
    async (reference) => {
      const { payments, find } = openShop();
      expect(await payments.settle(reference)).toEqual({ status: 'unknown' });
      expect(find).not.toHaveBeenCalled();
    },
  );
});

describe('receive', () => {
  it('throws misconfigured for every other kind, and for an event without a reference', async () => {
    const { payments, find } = openShop();
    const kinds = ['payment.refunded', 'unrecognized', undefined].map((type) => ({ type }));
    const references = [undefined, '', 'a\0b'].map((reference) => ({ reference }));
    for (const fields of [...kinds, ...references]) {
      const error = await failure(payments.receive({ ...succeeded(), ...fields } as never));
      expect(error).toMatchObject({ code: 'misconfigured', status: 500 });
    }
    expect(find).not.toHaveBeenCalled();
  });

  it('is bound, as are the others', async () => {
    const { receive, settle, reconcile, verify, explain } = openShop().payments;
    await receive(succeeded());
    expect((await settle(REFERENCE)).status).toBe('paid');
    expect((await reconcile([REFERENCE])).paid.count).toBe(1);
    expect((await verify([REFERENCE])).confirmed.count).toBe(1);
    expect((await explain(REFERENCE)).outcome).toBe('paid');
  });

  it('leaves the log to the receiver', async () => {
    const { payments, logger } = openShop({ amount: 1 });
    await failure(payments.receive(succeeded()));
    expect(logger.error).not.toHaveBeenCalled();
  });

  it('ends its wait on abort, and the run goes on', async () => {
    const crediting = deferred();
    const { memory, ...shop } = openShop();
    shop.credit.mockImplementation(async (...call) => {
      await crediting.promise;
      return memory.orders.credit(...call);
    });
    const controller = new AbortController();
    const receiving = shop.payments.receive(succeeded(), controller);
    await vi.waitFor(() => expect(shop.credit).toHaveBeenCalled());
    controller.abort();
    expect(await failure(receiving)).toMatchObject({ code: 'handler_timeout', status: 503 });
    crediting.resolve();
    await vi.waitFor(async () => expect(await shop.isPaid()).toBe(true));
  });
});

describe('receive behind a receiver', () => {
  it('asks nothing for a notification that was answered 503 in the line of questions', async () => {
    const answer = deferred<object>();
    const { payments, asked } = openMany(2, () => answer.promise, { concurrency: 1 });
    const first = payments.receive(succeeded('order-2'));
    const secret = 'the-webhook-secret-of-these-tests';
    const options = { secret, handlerTimeout: 50, logger: log() };
    const rawBody = new TextEncoder().encode(JSON.stringify({ reference: REFERENCE }));
    const headers = new Map([
      ['x-service-event', 'payment.succeeded'],
      ['x-service-signature', await sign(rawBody, secret)],
    ]);
    const delivery = { header: (name: string) => headers.get(name), body: async () => rawBody };
    const receiver = createReceiver(options, payments.receive);
    expect(await receiver.receive(delivery, {})).toMatchObject({ status: 503 });
    answer.resolve({});
    await first;
    await tick();
    expect(asked()).toEqual(['order-2']);
  });
});

describe('settle', () => {
  it('gives each page an answer that it cannot change for the others', async () => {
    const { payments } = openShop({ answer: { status: 'pending' } });
    const { payment } = await payments.settle(REFERENCE);
    expect(() => Object.assign(payment!, { status: 'success' })).toThrow(TypeError);
    expect((await payments.settle(REFERENCE)).payment).toMatchObject({ status: 'pending' });
  });

  it('does not abort the signal of a run that ended in its time, as the others', async () => {
    const { payments, find, credit } = openShop({ timeout: 200 });
    await payments.settle(REFERENCE);
    await payments.verify([REFERENCE]);
    await payments.explain(REFERENCE);
    await new Promise((resolve) => setTimeout(resolve, 250));
    const contexts = [...find.mock.calls, ...credit.mock.calls].map(([, context]) => context);
    expect(contexts.map(({ signal }) => signal.aborted)).toEqual([
      false,
      false,
      false,
      false,
      false,
    ]);
  });

  it('gives each function an object of its own, which it may copy or change', async () => {
    const { payments, find, credit } = openShop();
    const { signal } = new AbortController();
    find.mockImplementationOnce((reference, context) => {
      expect({ ...context }).toMatchObject({ tenant: null, signal: { aborted: false } });
      Object.assign(context, { tenant: 'another shop', signal });
      expect(context.signal).toBe(signal);
      return { reference, amount: 1_000, currency: 'XOF', paid: false };
    });
    expect((await payments.settle(REFERENCE)).status).toBe('paid');
    const [, context] = credit.mock.calls[0]!;
    expect({ ...context }).toMatchObject({ tenant: null, source: 'settle' });
    expect(context.signal).not.toBe(signal);
  });

  it('gives the five fields that Paylink reads, and keeps no others', { tags: 'Q11' }, async () => {
    const answer = { status: 'pending', type: 'payment', notes: 'x'.repeat(100_000) };
    const { payments } = openShop({ answer });
    const { payment } = await payments.settle(REFERENCE);
    const read = { reference: REFERENCE, type: 'payment', status: 'pending' };
    expect(payment).toEqual({ ...read, amount: 1_000, currency: 'XOF' });
  });

  it.each([
    [{ status: 'pending', amount: { of: 'x'.repeat(100_000) }, currency: 'x'.repeat(100_000) }],
    [{ status: 'failed', amount: 'x'.repeat(100_000), currency: ['XOF'] }],
  ])('keeps no amount and no currency that is none', { tags: 'Q11' }, async (answer) => {
    const { payments } = openShop({ answer });
    const { payment } = await payments.settle(REFERENCE);
    expect(payment).toEqual({ reference: REFERENCE, status: answer.status });
  });

  it('goes on after its caller left, also if it had to queue before', async () => {
    const [first, second] = [deferred<object>(), deferred<object>()];
    const answer = (reference: string) => (reference === REFERENCE ? second : first).promise;
    const { payments, memory, client, isPaid } = openShop({ answer, concurrency: 1 });
    memory.add({ reference: 'order-2', amount: 1_000, currency: 'XOF' });
    const controller = new AbortController();
    const earlier = payments.settle('order-2');
    await tick();
    const page = payments.settle(REFERENCE, { signal: controller.signal });
    await tick();
    first.resolve({});
    await earlier;
    await vi.waitFor(() => expect(client.getPayment).toHaveBeenCalledTimes(2));
    controller.abort();
    expect(await page).toEqual({ status: 'unavailable' });
    second.resolve({});
    await vi.waitFor(async () => expect(await isPaid()).toBe(true));
  });

  it('is unavailable after `wait`, and the run goes on', async () => {
    const answer = deferred<object>();
    const { payments, isPaid } = openShop({ answer: () => answer.promise });
    expect(await payments.settle(REFERENCE, { wait: 1 })).toEqual({ status: 'unavailable' });
    answer.resolve({});
    await vi.waitFor(async () => expect(await isPaid()).toBe(true));
  });

  it('is unavailable after three seconds without `wait`', async () => {
    const { payments } = openShop({ answer: () => new Promise(() => undefined) });
    const started = performance.now();
    expect(await payments.settle(REFERENCE)).toEqual({ status: 'unavailable' });
    expect(performance.now() - started).toBeGreaterThan(2_990);
    expect(performance.now() - started).toBeLessThan(15_000);
  });

  it('asks nothing for a page that stopped waiting in the line of questions, and frees its place', async () => {
    const answer = deferred<object>();
    const { payments, memory, client } = openShop({ answer: () => answer.promise, concurrency: 1 });
    memory.add({ reference: 'order-2', amount: 1_000, currency: 'XOF' });
    const first = payments.receive(succeeded());
    expect(await payments.settle('order-2', { wait: 20 })).toEqual({ status: 'unavailable' });
    answer.resolve({});
    await first;
    await payments.settle(REFERENCE);
    expect(client.getPayment.mock.calls.map(([reference]) => reference)).toEqual([REFERENCE]);
    // It left its place in the line too.
    expect((await payments.settle('order-2')).status).toBe('paid');
  });

  it('asks nothing for a page that stopped waiting before its order was found', async () => {
    const row = deferred<typeof ROW>();
    const { payments, client } = openShop({ orders: { find: () => row.promise } });
    expect(await payments.settle(REFERENCE, { wait: 1 })).toEqual({ status: 'unavailable' });
    row.resolve(ROW);
    await tick();
    expect(client.getPayment).not.toHaveBeenCalled();
  });

  it('is unavailable on abort, and never rejects for it', async () => {
    const { payments, find } = openShop();
    const signal = AbortSignal.abort();
    expect(await payments.settle(REFERENCE, { signal })).toEqual({ status: 'unavailable' });
    expect(find).not.toHaveBeenCalled();
  });

  it('logs a failure once a minute for a page that polls, with its code', async () => {
    const { payments, logger } = openShop({ amount: 1 });
    for (let polls = 0; polls < 5; polls++) await payments.settle(REFERENCE);
    expect(logger.error).toHaveBeenCalledOnce();
    expect(logger.error).toHaveBeenCalledWith(
      expect.stringContaining('409 amount_differs: settle of "order-1"'),
      {
        code: 'amount_differs',
        status: 409,
        reference: REFERENCE,
        error: expect.objectContaining({ code: 'amount_differs' }) as unknown,
      },
    );
  });

  it('cuts a long reference in its log line and in the fields', async () => {
    const { payments, memory, logger } = openShop();
    const reference = 'x'.repeat(60_000);
    memory.add({ reference, amount: 1, currency: 'XOF' });
    await payments.settle(reference);
    expect(logger.error).toHaveBeenCalledOnce();
    expect(JSON.stringify(logger.error.mock.calls).length).toBeLessThan(1_000);
  });

  it('remembers the log lines of 1,000 orders, and no more', async () => {
    const row = { amount: 1, currency: 'XOF', paid: false };
    const orders = { find: (reference: string) => ({ ...row, reference }) };
    const { payments, logger } = openShop({ orders });
    for (let index = 0; index <= 1_000; index++) await payments.settle(`order-${index}`);
    await payments.settle('order-1000');
    expect(logger.error).toHaveBeenCalledTimes(1_001);
    await payments.settle('order-0');
    expect(logger.error).toHaveBeenCalledTimes(1_002);
  });

  it('does not log an unknown order, which a stranger can ask for', async () => {
    const { payments, logger } = openShop();
    expect(await payments.settle('nobody')).toEqual({ status: 'unknown' });
    expect(logger.error).not.toHaveBeenCalled();
  });
});

describe('tenants', () => {
  const twoTenants = () => {
    const memory = memoryOrders();
    for (const tenant of ['a', 'b']) {
      memory.add({ reference: REFERENCE, amount: 1_000, currency: 'XOF', tenant });
    }
    return memory.orders;
  };

  it('have each their own order of one number', { tags: ['N03', 'P08'] }, async () => {
    const observe = vi.fn();
    const payments = createPayments({ client: service(), orders: twoTenants(), observe });
    await payments.receive(succeeded(REFERENCE, 'a'));
    expect(observe.mock.calls).toMatchObject([[{ outcome: 'credited', tenant: 'a' }]]);
    expect(await payments.explain(REFERENCE, { tenant: 'a' })).toMatchObject({ outcome: 'paid' });
    expect(await payments.explain(REFERENCE, { tenant: 'b' })).toMatchObject({
      outcome: 'credited',
    });
    await payments.receive(succeeded(REFERENCE, 'b'));
    expect(await payments.explain(REFERENCE, { tenant: 'b' })).toMatchObject({ outcome: 'paid' });
  });

  it('share no order if their names and references join to one text', { tags: 'N03' }, async () => {
    const { orders, add } = memoryOrders();
    const rows = [
      ['a', 'bc'],
      ['ab', 'c'],
      ['null', 'c'],
      [null, 'c'],
      [null, '4:nullc'],
      ['-', 'c'],
      [null, '-c'],
    ] as const;
    const payments = createPayments({ client: service(), orders });
    for (const [tenant, reference] of rows) {
      add({ tenant, reference, amount: 1_000, currency: 'XOF' });
      await payments.receive(succeeded(reference, tenant));
      expect((await payments.verify([reference], { tenant })).confirmed.count).toBe(1);
    }
  });

  it('have each their own lists', { tags: 'N03' }, async () => {
    const { orders, add } = memoryOrders();
    for (const tenant of ['a', 'b']) {
      add({ reference: `order-of-${tenant}`, amount: 1_000, currency: 'XOF', tenant });
    }
    const payments = createPayments({ client: service(), orders });
    for (const tenant of ['a', 'b']) {
      const own = { references: [`order-of-${tenant}`] };
      const reconciled = await payments.reconcile(undefined, { tenant });
      expect(reconciled).toMatchObject({ total: 1, credited: own });
      const verified = await payments.verify(undefined, { tenant });
      expect(verified).toMatchObject({ total: 1, confirmed: own });
    }
  });

  it('are each asked by their own client, made at its first use', { tags: 'N04' }, async () => {
    const clients = { a: service(), b: service() };
    const client = vi.fn((tenant: string | null) => clients[tenant as 'a' | 'b']);
    const payments = createPayments({ client, orders: twoTenants() });
    expect(client).not.toHaveBeenCalled();
    for (const tenant of ['a', 'b', 'a']) await payments.settle(REFERENCE, { tenant });
    expect(client.mock.calls).toEqual([['a'], ['b']]);
    expect(clients.a.getPayment.mock.calls[0]![1]).toMatchObject({ tenant: 'a' });
    expect(clients.b.getPayment).toHaveBeenCalledOnce();
  });

  it('are null without a tenant, never undefined', { tags: 'P29' }, async () => {
    const { payments, find } = openShop();
    await payments.settle(REFERENCE, { tenant: undefined });
    await payments.receive({ type: 'payment.succeeded', reference: REFERENCE });
    for (const [, context] of find.mock.calls) expect(context.tenant).toBeNull();
  });

  it('are required if the client is a function', { tags: 'P29' }, async () => {
    const payments = createPayments({ client: () => service(), orders: twoTenants() });
    await expect(payments.settle(REFERENCE)).rejects.toThrow(/^tenant must be .* function/);
    await expect(payments.explain(REFERENCE)).rejects.toThrow(/^tenant/);
    await expect(payments.reconcile([REFERENCE])).rejects.toThrow(/^tenant/);
    await expect(payments.verify([REFERENCE])).rejects.toThrow(/^tenant/);
    const event = { type: 'payment.succeeded', reference: REFERENCE };
    expect(await failure(payments.receive(event))).toMatchObject({ code: 'misconfigured' });
    expect(await payments.settle(REFERENCE, { tenant: null })).toEqual({ status: 'unknown' });
  });

  it('get 503 if their client cannot be made, and the next use tries again', async () => {
    const client = vi.fn(() => service());
    client.mockImplementationOnce(() => {
      throw new Error('PAYLINK_API_KEY is not set');
    });
    const logger = log();
    const payments = createPayments({ client, orders: twoTenants(), logger });
    expect(await failure(payments.receive(succeeded(REFERENCE, 'a')))).toMatchObject({
      code: 'confirm_unavailable',
      cause: { message: 'PAYLINK_API_KEY is not set' },
    });
    await payments.receive(succeeded(REFERENCE, 'a'));
  });

  it('get 503 if their client is a promise, whose rejection ends no process', async () => {
    // An unhandled rejection would fail the run.
    const client = () => Promise.reject(new Error('no vault')) as never;
    const payments = createPayments({ client, orders: twoTenants(), logger: log() });
    expect(await failure(payments.receive(succeeded(REFERENCE, 'a')))).toMatchObject({
      code: 'confirm_unavailable',
      cause: { message: expect.stringContaining('not a promise') as string },
    });
  });
});
