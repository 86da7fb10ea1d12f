import { describe, expect, it, vi } from 'vitest';
import { createPayments, memoryOrders, type Payments } from '../src/index.js';
import {
  deferred,
  failure,
  log,
  openMany,
  openShop,
  REFERENCE,
  refusalOf,
  service,
  succeeded,
  tick,
} from './shop.js';

interface Limit {
  readonly questions: number;
  readonly milliseconds: number;
  readonly status?: string;
}

/** A shop with many orders, and a service that allows some questions in each window of time. */
function openLimitedShop(orders: number, { questions, milliseconds, status = 'success' }: Limit) {
  const memory = memoryOrders();
  const references = Array.from({ length: orders }, (_, index) => `order-${index}`);
  for (const reference of references) memory.add({ reference, amount: 1_000, currency: 'XOF' });
  const counts = { asked: 0, refused: 0, whilePaused: 0, inFlight: 0, most: 0 };
  let windowEnd = 0;
  let left = 0;
  const getPayment = async (reference: string) => {
    const now = performance.now();
    if (now >= windowEnd) [windowEnd, left] = [now + milliseconds, questions];
    counts.asked++;
    counts.most = Math.max(counts.most, ++counts.inFlight);
    const isRefused = left === 0;
    if (!isRefused) left--;
    await new Promise((resolve) => setTimeout(resolve, 1));
    counts.inFlight--;
    if (!isRefused) return { reference, status, amount: 1_000, currency: 'XOF' };
    counts.refused++;
    throw refusalOf(429, windowEnd - now);
  };
  const client = { getPayment: vi.fn(getPayment) };
  const payments = createPayments({ client, orders: memory.orders, logger: log() });
  const signal = new AbortController().signal;
  const unpaid = () => [...(memory.orders.unpaid({ tenant: null, signal }) as string[])];
  return { payments, references, counts, client, unpaid };
}

/** Returns false if the notification has to come back, as the service does after its pause. */
async function receives(payments: Payments, reference: string): Promise<boolean> {
  try {
    await payments.receive(succeeded(reference));
    return true;
  } catch (error) {
    const { retryAfter = 5_000 } = error as { readonly retryAfter?: number };
    await new Promise((resolve) => setTimeout(resolve, retryAfter));
    return false;
  }
}

describe('the rate limit of the service', () => {
  it(
    'is held by 600 notifications at once, with at most 1.5 questions for each',
    { tags: 'P11' },
    async () => {
      const shop = openLimitedShop(600, { questions: 50, milliseconds: 250 });
      await Promise.all(
        shop.references.map(async (each) => {
          while (!(await receives(shop.payments, each))) await tick();
        }),
      );
      expect(shop.unpaid()).toEqual([]);
      expect(shop.counts.asked).toBeLessThanOrEqual(900);
      expect(shop.counts.most).toBe(32);
    },
  );

  it('is held by reconcile, which asks nothing during a pause', { tags: 'N10' }, async () => {
    const shop = openLimitedShop(500, { questions: 50, milliseconds: 250 });
    const started = performance.now();
    const report = await shop.payments.reconcile(shop.references, { concurrency: 8 });
    expect(report.credited.count).toBe(500);
    // Each pause begins with the refusal of the questions that were in flight.
    expect(shop.counts.asked).toBeLessThanOrEqual(750);
    expect(performance.now() - started).toBeLessThan(20_000);
  });

  it('pauses the page, the webhook and the schedule together', async () => {
    // The shorter pause of a second refusal does not end the first one.
    const answers = [refusalOf(429, 60_000), refusalOf(429, 0)];
    const { payments, asked } = openMany(3, () => answers.shift());
    const both = [REFERENCE, 'order-2'].map((each) => failure(payments.receive(succeeded(each))));
    for (const error of await Promise.all(both)) {
      expect(error).toMatchObject({ code: 'confirm_unavailable', status: 503 });
      expect(error.retryAfter).toBeGreaterThan(59_000);
    }
    expect(await payments.settle('order-3')).toEqual({ status: 'unavailable' });
    const report = await payments.reconcile(['order-3'], { timeLimit: 1_000 });
    expect(report).toMatchObject({ notAsked: { count: 1 }, cursor: '0:order-3' });
    expect(asked()).toEqual([REFERENCE, 'order-2']);
  });

  it('tells a caller who cannot wait at once, with the true time', async () => {
    // Eight are asked about, and the others wait in the line.
    const { payments } = openMany(12, refusalOf(429, 30_000), { concurrency: 8 });
    const started = performance.now();
    const all = Array.from({ length: 12 }, (_, index) => `order-${index + 1}`);
    const errors = await Promise.all(
      all.map((reference) => failure(payments.receive(succeeded(reference)))),
    );
    expect(performance.now() - started).toBeLessThan(2_000);
    for (const { retryAfter } of errors) {
      expect(retryAfter).toBeGreaterThan(29_000);
      expect(retryAfter).toBeLessThan(31_000);
    }
  });

  it('doubles the pause with each refusal that has no Retry-After', async () => {
    const times: number[] = [];
    const answer = (): Error | undefined => {
      times.push(performance.now());
      return times.length < 3 ? refusalOf(429) : undefined;
    };
    const { payments, client } = openShop({ answer });
    client.getPayment.mockImplementation(async (reference) => {
      const error = answer();
      if (error !== undefined) throw error;
      return { reference, status: 'success', amount: 1_000, currency: 'XOF' };
    });
    // A question that was refused twice leaves the line.
    expect((await failure(payments.receive(succeeded()))).retryAfter).toBeGreaterThan(1_900);
    await payments.receive(succeeded());
    expect(times[1]! - times[0]!).toBeGreaterThanOrEqual(999);
    expect(times[2]! - times[1]!).toBeGreaterThanOrEqual(1_999);
  });

  it('halves the questions in flight once, although it refuses all of them', async () => {
    let [inFlight, most, refused] = [0, 0, 0];
    const { payments } = openMany(32, async () => {
      most = Math.max(most, ++inFlight);
      await tick();
      inFlight--;
      if (refused === 32) return {};
      if (++refused === 32) most = 0;
      return refusalOf(429, 1);
    });
    const all = Array.from({ length: 32 }, (_, index) => succeeded(`order-${index + 1}`));
    await Promise.all(all.map((event) => payments.receive(event)));
    // Each answer adds a tenth.
    expect(most).toBeGreaterThanOrEqual(16);
    expect(most).toBeLessThan(20);
  });

  it('is kept although the clock goes back an hour', { tags: ['P35', 'Q10'] }, async () => {
    const answers = [refusalOf(429, 50), {}];
    const { payments } = openShop({ answer: () => answers.shift() });
    const receiving = payments.receive(succeeded());
    const clock = vi.spyOn(Date, 'now').mockReturnValue(Date.now() - 3_600_000);
    await receiving;
    clock.mockRestore();
  });

  it(
    'leaves the other orders alone if one order is asked about too often',
    { tags: 'Q07' },
    async () => {
      const answers = [{ status: 'pending' }, refusalOf(429, 58_000)];
      const polled = (reference: string) => (reference === REFERENCE ? answers.shift() : {});
      const { payments } = openMany(4, polled);
      expect((await payments.settle(REFERENCE)).status).toBe('pending');
      // A webhook asks anew.
      const { retryAfter, cause } = await failure(payments.receive(succeeded()));
      expect(retryAfter).toBeGreaterThan(57_000);
      expect(cause).toMatchObject({ status: 429 });
      await payments.receive(succeeded('order-2'));
      expect((await payments.settle('order-3')).status).toBe('paid');
      expect(await payments.reconcile()).toMatchObject({
        credited: { references: ['order-4'] },
        pending: { references: [REFERENCE] },
      });
      expect((await failure(payments.receive(succeeded()))).retryAfter).toBeGreaterThan(57_000);
    },
  );

  it('leaves the others alone if a second order is refused after an answer', async () => {
    const { payments, asked } = openMany(4, (reference) =>
      ['order-3', 'order-4'].includes(reference)
        ? {}
        : asked().filter((each) => each === reference).length === 1
          ? { status: 'pending' }
          : refusalOf(429, 58_000),
    );
    for (const each of [REFERENCE, 'order-2']) await payments.settle(each);
    await failure(payments.receive(succeeded()));
    expect((await payments.settle('order-3')).status).toBe('paid');
    await failure(payments.receive(succeeded('order-2')));
    expect((await payments.settle('order-4')).status).toBe('paid');
  });

  it('pauses the line as soon as a second order is refused', { tags: 'Q07' }, async () => {
    const { payments, asked } = openMany(3, (reference) =>
      asked().filter((each) => each === reference).length === 1 && reference !== 'order-3'
        ? { status: 'pending' }
        : refusalOf(429, 58_000),
    );
    for (const each of [REFERENCE, 'order-2']) await payments.settle(each);
    for (const each of [REFERENCE, 'order-2']) await failure(payments.receive(succeeded(each)));
    expect(await payments.settle('order-3')).toEqual({ status: 'unavailable' });
    expect(asked()).toEqual([REFERENCE, 'order-2', REFERENCE, 'order-2']);
  });

  it('lets a return page pass the waiting schedule', async () => {
    const shop = openLimitedShop(40, { questions: 5, milliseconds: 60 });
    const reconciling = shop.payments.reconcile(shop.references.slice(0, 39), { concurrency: 8 });
    await vi.waitFor(() => expect(shop.counts.refused).toBeGreaterThan(0));
    expect((await shop.payments.settle('order-39')).status).toBe('paid');
    expect(shop.unpaid().length).toBeGreaterThan(20);
    // A question that is refused twice leaves the line, and its order waits for the next run.
    const { credited, errors } = await reconciling;
    expect(credited.count + errors.count).toBe(39);
  });
});

describe('questions', () => {
  it('are asked once in 2 s for a page that polls', { tags: 'O17' }, async () => {
    const asked = new Map<string, number[]>();
    const { payments, memory } = openShop({
      answer(reference) {
        asked.set(reference, [...(asked.get(reference) ?? []), performance.now()]);
        return { status: 'pending' };
      },
    });
    for (let index = 0; index < 100; index++) {
      memory.add({ reference: `pending-${index}`, amount: 1_000, currency: 'XOF' });
    }
    for (let polls = 0; polls < 10_000; polls++) {
      const { status } = await payments.settle(`pending-${polls % 100}`);
      expect(status).toBe('pending');
    }
    expect(asked.size).toBe(100);
    for (const times of asked.values()) {
      const gaps = times.slice(1).map((time, index) => time - times[index]!);
      expect(Math.min(2_000, ...gaps)).toBeGreaterThanOrEqual(2_000);
    }
  });

  it('are asked again after 2 s', async () => {
    const { payments, client } = openShop({ answer: { status: 'pending' } });
    await payments.settle(REFERENCE);
    await new Promise((resolve) => setTimeout(resolve, 2_050));
    await payments.settle(REFERENCE);
    expect(client.getPayment).toHaveBeenCalledTimes(2);
  });

  it.each([
    ['32 at a time', undefined, 32],
    ['as many at a time as `concurrency` says', 5, 5],
  ])('are %s, of different orders', async (_, concurrency, most) => {
    const asked = deferred<object>();
    const { payments, client, memory } = openShop({ answer: () => asked.promise, concurrency });
    const all = Array.from({ length: 40 }, (_, index) => `many-${index}`);
    for (const reference of all) memory.add({ reference, amount: 1_000, currency: 'XOF' });
    const receiving = all.map((reference) => payments.receive(succeeded(reference)));
    await vi.waitFor(() => expect(client.getPayment).toHaveBeenCalledTimes(most));
    await tick();
    expect(client.getPayment).toHaveBeenCalledTimes(most);
    asked.resolve({});
    await Promise.all(receiving);
  });

  it('wait in one line if their tenants share a client', async () => {
    const asked = deferred<object>();
    const client = service(() => asked.promise);
    const { orders, add } = memoryOrders();
    for (const tenant of ['a', 'b'])
      add({ reference: REFERENCE, amount: 1, currency: 'XOF', tenant });
    const payments = createPayments({ client: () => client, orders, concurrency: 1 });
    const pages = ['a', 'b'].map((tenant) => payments.settle(REFERENCE, { tenant }));
    await tick();
    expect(client.getPayment).toHaveBeenCalledOnce();
    asked.resolve({});
    await Promise.all(pages);
    expect(client.getPayment).toHaveBeenCalledTimes(2);
  });

  it('carry the signal and the tenant, and nothing else', async () => {
    const { payments, client } = openShop();
    await payments.settle(REFERENCE);
    expect(client.getPayment).toHaveBeenCalledWith(REFERENCE, {
      signal: expect.any(AbortSignal) as unknown,
      tenant: null,
    });
  });

  it('end with their run if they hang, and abort their signal', async () => {
    const { payments, client } = openShop({
      answer: () => new Promise(() => undefined),
      timeout: 500,
    });
    expect(await failure(payments.receive(succeeded()))).toMatchObject({
      code: 'handler_timeout',
      message: 'the service did not answer in time',
    });
    const { signal } = client.getPayment.mock.calls[0]![1];
    await vi.waitFor(() => expect(signal.aborted).toBe(true));
  });
});

describe('an error of the client', () => {
  it('says so if the service refused the key, and ends reconcile at the second order', async () => {
    const { payments, client } = openMany(3, refusalOf(401));
    const report = await payments.reconcile(undefined, { concurrency: 1 });
    expect(report).toMatchObject({
      keyRefused: true,
      errors: { count: 2, outcomes: { confirm_unavailable: 2 } },
      notAsked: { count: 1 },
      cursor: '2:order-3',
    });
    expect(report.errors.details[0]!.message).toMatch(/rejected the API key \(401\)/);
    expect(client.getPayment).toHaveBeenCalledTimes(2);
  });

  it(
    'is an error of its order alone if it is one 401 among good answers',
    { tags: 'Q09' },
    async () => {
      const { payments } = openMany(9, (each) => (each === 'order-4' ? refusalOf(401) : {}));
      expect(await payments.reconcile()).toMatchObject({
        keyRefused: false,
        credited: { count: 8 },
        errors: { references: ['order-4'] },
        notAsked: { count: 0 },
      });
    },
  );

  it(
    'ends reconcile if the key is refused, although other orders are answered meanwhile',
    { tags: 'Q09' },
    async () => {
      const isRefused = (reference: string) => ['order-2', 'order-5'].includes(reference);
      const { payments } = openMany(40, (each) => (isRefused(each) ? refusalOf(401) : {}));
      const report = await payments.reconcile(undefined, { concurrency: 3 });
      expect(report).toMatchObject({ keyRefused: true, errors: { count: 2 } });
      expect(report.notAsked.count).toBeGreaterThan(30);
    },
  );

  it('gives the reply its own Retry-After', async () => {
    const { payments } = openShop({ answer: refusalOf(503, 7_000) });
    expect(await failure(payments.receive(succeeded()))).toMatchObject({
      code: 'confirm_unavailable',
      retryAfter: 7_000,
    });
  });

  it.each([-1, NaN, '7000'])('sets no Retry-After if its own is %j', async (retryAfter) => {
    const { payments } = openShop({ answer: refusalOf(503, retryAfter as number) });
    const error = await failure(payments.receive(succeeded()));
    expect(error).toMatchObject({ code: 'confirm_unavailable', status: 503 });
    expect(error.retryAfter).toBeUndefined();
  });

  it('is kept for later callers without its response', async () => {
    const error = Object.assign(refusalOf(401, 7_000), { response: 'x'.repeat(100_000) });
    const { payments, client } = openShop({ answer: error });
    expect((await payments.explain(REFERENCE)).error).toMatchObject({ cause: error });
    const later = await payments.explain(REFERENCE);
    expect(later.reason).toContain('rejected the API key (401)');
    expect(later.error).toHaveProperty('cause', { status: 401, retryAfter: 7_000 });
    expect(client.getPayment).toHaveBeenCalledOnce();
  });
});
