import { describe, expect, it, vi } from 'vitest';
import type { SweepProgress } from '../src/contract.js';
import { createPayments, memoryOrders } from '../src/index.js';
import { deferred, log, openMany, openShop, REFERENCE, refusalOf, service, tick } from './shop.js';

/** A shop with orders `order-0` …, whose payments have these statuses. */
function openLargeShop(orders: number, answer: Parameters<typeof service>[0] = {}) {
  const memory = memoryOrders();
  const references = Array.from({ length: orders }, (_, index) => `order-${index}`);
  for (const reference of references) memory.add({ reference, amount: 1_000, currency: 'XOF' });
  const client = service(answer);
  const logger = log();
  return {
    payments: createPayments({ client, orders: memory.orders, logger }),
    memory,
    references,
    client,
    logger,
  };
}

describe('reconcile', () => {
  it(
    'credits every paid order of orders.unpaid(), and nothing at the next run',
    { tags: 'H08' },
    async () => {
      const { payments } = openLargeShop(30);
      expect(await payments.reconcile()).toMatchObject({ total: 30, credited: { count: 30 } });
      expect(await payments.reconcile()).toMatchObject({ total: 0, credited: { count: 0 } });
    },
  );

  it('takes a Set, a generator and an async generator', async () => {
    const { payments, references } = openLargeShop(9);
    expect((await payments.reconcile(new Set(references.slice(0, 3)))).credited.count).toBe(3);
    function* some() {
      yield* references.slice(3, 6);
    }
    expect((await payments.reconcile(some())).credited.count).toBe(3);
    async function* rest() {
      yield* references.slice(6);
    }
    expect((await payments.reconcile(rest())).credited.count).toBe(3);
  });

  it('asks a repeated reference once', async () => {
    const { payments, client, references } = openLargeShop(3, { status: 'pending' });
    const report = await payments.reconcile([...references, ...references, 'order-1']);
    expect(report.total).toBe(3);
    expect(client.getPayment).toHaveBeenCalledTimes(3);
  });

  it('lists the first 1,000 references of each outcome, and counts all', async () => {
    const { payments, references } = openLargeShop(1_500, { status: 'pending' });
    const { pending } = await payments.reconcile(references, { concurrency: 50 });
    expect(pending.count).toBe(1_500);
    expect(pending.references).toEqual(references.slice(0, 1_000));
  });

  it('logs each error with its code, and goes on', async () => {
    const { payments, logger, memory } = openLargeShop(2);
    memory.add({ reference: 'cheap', amount: 1, currency: 'XOF' });
    const all = ['cheap', 'nobody', ' ', 'order-0', 'order-1'];
    const report = await payments.reconcile(all, { concurrency: 1 });
    expect(report.credited.count).toBe(2);
    expect(report.errors).toMatchObject({
      count: 2,
      outcomes: { unknown_order: 2 },
      references: ['nobody', ' '],
    });
    expect(logger.error.mock.calls.map(([, { code }]) => code as string)).toEqual([
      'amount_differs',
      'unknown_order',
      'unknown_order',
    ]);
  });

  it(
    'lists cases for a person apart, at every run, and logs each once',
    { tags: 'Q13' },
    async () => {
      const { payments, logger, memory } = openLargeShop(2, { status: 'success' });
      memory.add({ reference: 'cheap', amount: 1, currency: 'XOF' });
      memory.add({ reference: 'closed', amount: 1_000, currency: 'XOF', closed: true });
      for (let runs = 0; runs < 3; runs++) {
        const report = await payments.reconcile();
        expect(report).toMatchObject({ errors: { count: 0 }, cursor: undefined });
        expect(report.undecided).toMatchObject({
          count: 2,
          references: ['cheap', 'closed'],
          outcomes: { amount_differs: 1, order_closed: 1 },
          details: [{ message: 'the service took the amount 1000, and the order has 1' }, {}],
        });
      }
      expect(logger.error).toHaveBeenCalledTimes(2);
    },
  );

  it('lists the first 1,000 errors with their messages, each cut', async () => {
    const { payments, references } = openLargeShop(1_200, new Error('x'.repeat(100_000)));
    const { errors } = await payments.reconcile(references, { concurrency: 100 });
    expect(errors.count).toBe(1_200);
    expect(errors.details).toHaveLength(1_000);
    expect(JSON.stringify(errors.details).length).toBeLessThan(1_000_000);
  });

  it(
    'lists orders without a link apart, and without an error, at every run',
    { tags: 'P10' },
    async () => {
      const answer = (reference: string) => (reference === 'order-7' ? {} : refusalOf(404));
      const { payments, logger, references } = openLargeShop(8, answer);
      for (let runs = 0; runs < 3; runs++) {
        const report = await payments.reconcile(references);
        expect(report.errors.count).toBe(0);
        expect(report.noPayment.count).toBe(7);
      }
      expect(logger.error).not.toHaveBeenCalled();
      expect(logger.warn).not.toHaveBeenCalled();
    },
  );

  it.each([
    [10, 'all are 404', {}, 1],
    [9, 'all are 404', {}, 0],
    [11, 'one is pending', { 'order-7': { status: 'pending' } }, 0],
  ])(
    'warns of baseUrl, or not, if %s are asked and %s',
    { tags: 'P36' },
    async (orders, _, known, warnings) => {
      const answers: Readonly<Record<string, object>> = known;
      const { payments, logger } = openLargeShop(orders, (each) => answers[each] ?? refusalOf(404));
      await payments.reconcile();
      expect(logger.warn).toHaveBeenCalledTimes(warnings);
      if (warnings === 1) expect(logger.warn.mock.calls[0]![0]).toContain('baseUrl');
    },
  );
});

describe('the time limit of reconcile', () => {
  const slow = () => new Promise<object>((resolve) => setTimeout(() => resolve({}), 10));

  it('leaves the rest of an array as notAsked, and the next run wraps round', async () => {
    const { payments, references } = openLargeShop(40, slow);
    const first = await payments.reconcile(references, { timeLimit: 60, concurrency: 2 });
    expect(first.credited.count).toBeGreaterThan(0);
    expect(first.credited.count + first.notAsked.count).toBe(40);
    const next = first.notAsked.references[0]!;
    expect(first.cursor).toBe(`${next.slice(6)}:${next}`);
    const asked: string[] = [];
    const second = await payments.reconcile(references, {
      cursor: first.cursor,
      concurrency: 1,
      onProgress: () => undefined,
    });
    asked.push(...second.credited.references);
    expect(asked[0]).toBe(next);
    expect(second).toMatchObject({ total: 40, cursor: undefined, notAsked: { count: 0 } });
    expect(second.credited.count + first.credited.count).toBe(40);
  });

  it.each([
    ['an array', (all: string[]) => all],
    [
      'a generator',
      function* (all: string[]) {
        yield* all;
      },
    ],
    [
      'an async generator',
      async function* (all: string[]) {
        yield* all;
      },
    ],
  ])('resumes in %s, also if the orders before it are paid by now', async (_, listOf) => {
    const { payments, references, client } = openLargeShop(5, { status: 'pending' });
    const run = await payments.reconcile(listOf(references.slice(2)), {
      cursor: '4:order-4',
      concurrency: 1,
    });
    expect(client.getPayment.mock.calls.map(([reference]) => reference)).toEqual([
      'order-4',
      'order-2',
      'order-3',
    ]);
    expect(run.total).toBe(3);
  });

  it('resumes at its index if the order of its cursor is paid by now', async () => {
    const { payments, references, client } = openLargeShop(4, { status: 'pending' });
    await payments.reconcile(references, { cursor: '2:a paid\norder', concurrency: 1 });
    const asked = client.getPayment.mock.calls.map(([reference]) => reference);
    expect(asked).toEqual(['order-2', 'order-3', 'order-0', 'order-1']);
  });

  it('gives up a question that hangs, two seconds after the limit', async () => {
    const hanging = () => deferred<object>().promise;
    const { payments } = openMany(1, hanging, { timeout: 300_000 });
    expect(await payments.reconcile(undefined, { timeLimit: 500 })).toMatchObject({
      errors: { references: [REFERENCE], outcomes: { handler_timeout: 1 } },
    });
  });

  it('rejects on abort at once, and goes on with none but the four orders in progress', async () => {
    const answer = deferred<object>();
    const { payments, references, client } = openLargeShop(9, () => answer.promise);
    const controller = new AbortController();
    const running = payments.reconcile(references, { signal: controller.signal });
    await tick();
    controller.abort(new Error('the process ends'));
    await expect(running).rejects.toThrow('the process ends');
    answer.resolve({});
    await tick();
    expect(client.getPayment).toHaveBeenCalledTimes(4);
  });

  it('asks nothing about an order that waits in the line of questions on abort', async () => {
    const answer = deferred<object>();
    const { payments, asked, find } = openMany(2, () => answer.promise, { concurrency: 1 });
    const first = payments.settle(REFERENCE);
    const controller = new AbortController();
    const running = payments.reconcile(['order-2'], { signal: controller.signal });
    await vi.waitFor(() => expect(find).toHaveBeenCalledTimes(2));
    await tick();
    controller.abort(new Error('the process ends'));
    await expect(running).rejects.toThrow('the process ends');
    answer.resolve({});
    await first;
    await tick();
    expect(asked()).toEqual([REFERENCE]);
  });
});

it('reconcile tells its progress each second and at the end', async () => {
  const told: SweepProgress[] = [];
  const { payments, references } = openLargeShop(2, () => wait(1_100).then(() => ({})));
  await payments.reconcile(references, { onProgress: (each) => told.push(each), concurrency: 1 });
  expect(told.length).toBeGreaterThanOrEqual(3);
  expect(told[0]).toMatchObject({ ended: 0, total: 2, credited: 0, errors: 0, pause: 0 });
  expect(told.at(-1)).toMatchObject({ ended: 2, credited: 2, cursor: undefined });
});

const wait = (milliseconds: number): Promise<void> =>
  new Promise((resolve) => setTimeout(resolve, milliseconds));

describe('verify', () => {
  const paidShop = (answer: Parameters<typeof service>[0]) => {
    const row = { reference: REFERENCE, amount: 1_000, currency: 'XOF', paid: true };
    return openShop({ answer, orders: { find: () => row, paid: () => [REFERENCE] } });
  };

  it.each([
    ['confirmed', {}],
    ['notPaid', { status: 'pending' }],
    ['notPaid', { status: 'failed' }],
    ['notPaid', { status: 'cancelled' }],
    ['differs', { amount: 999 }],
    ['differs', { currency: 'EUR' }],
    ['noPayment', refusalOf(404)],
    ['errors', refusalOf(500)],
  ])('lists a paid order under %s if the service answers %o', async (list, answer) => {
    const { payments, credit, logger } = paidShop(answer);
    expect(await payments.verify()).toMatchObject({
      total: 1,
      [list]: { references: [REFERENCE] },
    });
    expect(credit).not.toHaveBeenCalled();
    expect(logger.error).not.toHaveBeenCalled();
  });

  it('asks nothing about an order that is not paid', async () => {
    const { payments, client, credit } = openShop();
    expect((await payments.verify([REFERENCE])).unpaid.count).toBe(1);
    expect(client.getPayment).not.toHaveBeenCalled();
    expect(credit).not.toHaveBeenCalled();
  });
});

describe('explain', () => {
  it('gives the order, the payment, the outcome and the reason', async () => {
    const { payments } = openShop({ amount: 500n });
    expect(await payments.explain(REFERENCE)).toEqual({
      order: {
        reference: REFERENCE,
        amount: 500n,
        currency: 'XOF',
        paid: false,
        closed: undefined,
      },
      payment: { reference: REFERENCE, status: 'success', amount: 1_000, currency: 'XOF' },
      outcome: 'amount_differs',
      reason: 'the service took the amount 1000, and the order has 500',
      error: expect.objectContaining({ code: 'amount_differs' }) as unknown,
    });
  });

  it('asks the client of the merchant also about an order that is paid or unknown', async () => {
    const { orders, add } = memoryOrders();
    const client = (tenant: string | null) => service({ amount: tenant === 'a' ? 1_000 : 7 });
    const payments = createPayments({ client, orders });
    add({ reference: REFERENCE, amount: 1_000, currency: 'XOF', tenant: 'a' });
    await payments.settle(REFERENCE, { tenant: 'a' });
    expect(await payments.explain(REFERENCE, { tenant: 'a' })).toMatchObject({
      payment: { status: 'success', amount: 1_000 },
      outcome: 'paid',
    });
    expect(await payments.explain('nobody', { tenant: 'a' })).toMatchObject({
      order: null,
      payment: { status: 'success', amount: 1_000 },
      outcome: 'unknown_order',
    });
  });

  it('says so if neither the shop nor the service knows the reference', async () => {
    const { payments } = openShop({ answer: refusalOf(404) });
    expect((await payments.explain('nobody')).reason).toMatch(
      /^find\(\) returned no order, and the service has no payment with this reference$/,
    );
  });

  it('names the cause of an error', async () => {
    const { payments } = openShop({ answer: new Error('connect ECONNREFUSED') });
    const { outcome, reason } = await payments.explain(REFERENCE);
    expect(outcome).toBe('confirm_unavailable');
    expect(reason).toContain('connect ECONNREFUSED');
  });
});
