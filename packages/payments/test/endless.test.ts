/** Lists that end badly, rows whose getters throw, and callers that come together. */
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { deferred, failure, openShop, REFERENCE, refusalOf, succeeded, tick } from './shop.js';

describe('a list that gives no more references', () => {
  const five = Array.from({ length: 5 }, (_, index) => `order-${index + 1}`);
  const never = new Promise<never>(() => undefined);

  // The time limit of a run, and not the clock of its orders, which the sources keep.
  beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }));
  afterEach(() => void vi.useRealTimers());
  const endTime = () => setImmediate(() => vi.advanceTimersByTime(600_000));

  async function* hanging() {
    yield* five;
    endTime();
    await never;
  }
  async function* failing() {
    yield* five;
    await tick();
    throw new Error('the cursor is gone');
  }

  it.each([
    ['hangs', hanging],
    ['throws', failing],
  ])('and %s at the same place again, is then read from its start', async (_how, unpaid) => {
    const { payments, find, logger } = openShop({ orders: { unpaid } });
    const read = async (): Promise<number> => {
      find.mockClear();
      await payments.reconcile(undefined, { concurrency: 1 }).catch(() => undefined);
      return new Set(find.mock.calls.map(([reference]) => reference)).size;
    };
    expect([await read(), await read(), await read()]).toEqual([5, 1, 5]);
    if (unpaid === hanging) {
      expect(logger.error.mock.calls.join()).toContain('unpaid() gave no more');
    }
  });

  it('in time, is read on by the next run, also if another was aborted in between', async () => {
    let length = 0;
    const unpaid = async function* () {
      yield* Array.from({ length: (length += 5) }, (_, index) => `order-${index}`);
      endTime();
      await never;
    };
    const { payments, find } = openShop({ orders: { unpaid } });
    await payments.reconcile(undefined, { concurrency: 1 });
    await failure(payments.reconcile(undefined, { signal: AbortSignal.abort() }));
    find.mockClear();
    await payments.reconcile(undefined, { concurrency: 1 });
    expect(find.mock.calls[0]![0]).toBe('order-4');
  });

  it.each<[string, () => Iterable<string> | AsyncIterable<string>]>([
    [
      'without a pause',
      function* () {
        for (;;) yield REFERENCE;
      },
    ],
    [
      'row by row',
      async function* () {
        for (;;) {
          await tick();
          yield REFERENCE;
        }
      },
    ],
  ])('but the same one for ever %s, is read no longer than the run', async (_how, list) => {
    const { payments } = openShop();
    const closed = deferred();
    const counted = {
      [Symbol.asyncIterator]: async function* () {
        let count = 0;
        try {
          for await (const each of list()) {
            if (++count === 100) endTime();
            yield each;
          }
        } finally {
          closed.resolve();
        }
      },
    };
    await payments.reconcile(counted, { concurrency: 1 });
    await closed.promise;
  });
});

it('the longest time limit cuts no order', async () => {
  const { payments } = openShop();
  const report = await payments.reconcile([REFERENCE], { timeLimit: 2_147_483_647 });
  expect(report).toMatchObject({ credited: { count: 1 }, errors: { count: 0 } });
});

it('P07: a row whose getters throw is orders_unavailable, and stops no other order', async () => {
  const hostile = [
    {
      amount: {
        get min(): never {
          throw new TypeError('lazy');
        },
        max: 3,
      },
    },
    {
      get currency(): never {
        throw Object.assign(new Error('x'), { status: 200 });
      },
    },
  ];
  for (const fields of hostile) {
    const find = async (reference: string) => {
      const row = { reference, currency: 'XOF', amount: 1_000, paid: reference !== REFERENCE };
      if (row.paid) return row;
      return Object.defineProperties(row, Object.getOwnPropertyDescriptors(fields));
    };
    const { payments } = openShop({ orders: { find } });
    expect(await payments.settle(REFERENCE)).toEqual({ status: 'unavailable' });
    expect((await payments.explain(REFERENCE)).outcome).toBe('orders_unavailable');
    const report = await payments.reconcile([REFERENCE, 'order-2']);
    expect(report).toMatchObject({ errors: { count: 1 }, paid: { count: 1 } });
  }
});

describe('callers of one order', () => {
  it('read the row a few times, although fifty notifications come together', async () => {
    const { payments, find } = openShop({ answer: { amount: 2_000 } });
    const all = Array.from({ length: 50 }, () => failure(payments.receive(succeeded())));
    for (const error of await Promise.all(all)) expect(error.code).toBe('amount_differs');
    expect(find.mock.calls.length).toBeLessThanOrEqual(4 * 50);
  });

  it('learn the step at which the run in front of them waits', async () => {
    const row = deferred();
    const { payments, find, memory } = openShop({
      answer: () => new Promise(() => undefined),
      timeout: 100,
    });
    find.mockImplementationOnce((...call) => row.promise.then(() => memory.orders.find(...call)));
    const schedule = payments.reconcile([REFERENCE]);
    await tick();
    const webhook = failure(payments.receive(succeeded()));
    setTimeout(row.resolve, 50);
    expect((await webhook).message).toMatch(/still waits for the service$/);
    expect((await schedule).errors.details[0]!.message).toMatch(/the service did not answer/);
  });

  it('move a run of the schedule up, also before it asks', async () => {
    const row = deferred();
    const answers = [refusalOf(429, 300)];
    const { payments, memory, find, client } = openShop({ answer: () => answers.shift() ?? {} });
    for (const each of ['order-2', 'order-3']) {
      memory.add({ reference: each, amount: 1_000, currency: 'XOF' });
    }
    await payments.reconcile(['order-2'], { timeLimit: 100 });
    find.mockImplementationOnce(async (reference) => {
      await row.promise;
      return { reference, amount: 1_000, currency: 'XOF', paid: false };
    });
    const schedule = payments.reconcile(['order-3', REFERENCE], { concurrency: 2 });
    await tick();
    const webhook = payments.receive(succeeded('order-3'));
    row.resolve();
    await Promise.all([webhook, schedule]);
    expect(client.getPayment.mock.calls.map(([reference]) => reference)[1]).toBe('order-3');
  });
});

it('names a client that gives no payment', async () => {
  const { payments } = openShop({ answer: () => undefined });
  const { message } = await failure(payments.receive(succeeded()));
  expect(message).toContain('look for a missing `return`');
});

it('logs the outage of the database once a minute, however many orders strangers name', async () => {
  const find = () => Promise.reject(new Error('invalid input syntax for type uuid'));
  const { payments, logger } = openShop({ orders: { find } });
  for (let number = 0; number < 20; number++) await payments.settle(`x${number}`);
  expect(logger.error).toHaveBeenCalledOnce();
});
