/** The long times on a virtual clock: pauses of the service, a hanging credit, the log. */
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { refusalOf, succeeded } from './shop.js';

const CLOCKS = [
  'setTimeout',
  'clearTimeout',
  'setInterval',
  'clearInterval',
  'performance',
] as const;

beforeEach(() => {
  vi.useFakeTimers({ toFake: [...CLOCKS] });
  // The sources keep the clock of their import.
  vi.resetModules();
});
afterEach(() => void vi.useRealTimers());

/** A shop whose service allows 20 questions a second, and says how long a refused one must wait. */
async function openShop(retryAfter: (rest: number) => number, allowed = 20) {
  const limit = { allowed, isUnlucky: () => false };
  const { createPayments } = await import('../src/index.js');
  const paid = new Set<string>();
  const asked: { readonly reference: string; readonly at: number }[] = [];
  let [windowEnd, left, refused] = [0, 0, 0];
  const getPayment = async (reference: string) => {
    const now = performance.now();
    if (now >= windowEnd) [windowEnd, left] = [now + 1_000, limit.allowed];
    const isRefused = limit.isUnlucky() || left-- <= 0;
    await new Promise((resolve) => setTimeout(resolve, 10));
    if (isRefused) throw refusalOf(429, retryAfter(++refused && windowEnd - now));
    asked.push({ reference, at: now });
    return { reference, status: 'success', amount: 1_000, currency: 'XOF' };
  };
  const row = { amount: 1_000, currency: 'XOF' };
  const orders = {
    find: (reference: string) => ({ ...row, reference, paid: paid.has(reference) }),
    credit({ reference }: { readonly reference: string }) {
      paid.add(reference);
      return 1;
    },
  };
  const logger = { warn: vi.fn(), error: vi.fn() };
  const payments = createPayments({ client: { getPayment }, orders, logger });
  /** Sends a notification again after the Retry-After of each reply, as the service does. */
  const deliver = async (reference: string): Promise<void> => {
    for (;;) {
      try {
        await payments.receive(succeeded(reference));
        return;
      } catch (error) {
        const { retryAfter = 5_000 } = error as { readonly retryAfter?: number };
        const seconds = Math.max(1, Math.ceil(retryAfter / 1_000));
        await new Promise((resolve) => setTimeout(resolve, seconds * 1_000));
      }
    }
  };
  return { payments, limit, paid, asked, deliver, questions: () => asked.length + refused };
}

const numbered = (name: string, count: number): string[] =>
  Array.from({ length: count }, (_, index) => `${name}-${index}`);

async function secondsUntil(isReached: () => boolean): Promise<number> {
  const started = performance.now();
  while (!isReached()) await vi.advanceTimersByTimeAsync(250);
  return (performance.now() - started) / 1_000;
}

it('has one timer for a pause, however many came and left in it', async () => {
  const { payments } = await openShop(() => 5_000, 0);
  const pages = numbered('order', 100).map((each) => payments.settle(each, { wait: 500 }));
  await vi.advanceTimersByTimeAsync(600);
  await Promise.all(pages);
  expect(vi.getTimerCount()).toBe(1);
});

it('is soon at full speed after a pause of ten minutes', async () => {
  const shop = await openShop(() => 600_000);
  const first = Promise.all(numbered('first', 30).map(shop.deliver));
  await secondsUntil(() => shop.paid.size === 20);
  shop.limit.allowed = 1_000;
  await secondsUntil(() => shop.paid.size === 30);
  await first;
  const next = Promise.all(numbered('next', 100).map(shop.deliver));
  expect(await secondsUntil(() => shop.paid.size === 130)).toBeLessThan(1);
  await next;
});

it.each([
  ['the rest of its second', (rest: number) => Math.ceil(rest / 1_000) * 1_000, 24],
  ['five seconds each time', () => 5_000, 80],
  ['nothing useful', () => 0, 36],
])('asks 1.5 times at most for each of 240 orders if a 429 says %s', async (_, said, seconds) => {
  const shop = await openShop(said);
  const all = Promise.all(numbered('order', 240).map(shop.deliver));
  expect(await secondsUntil(() => shop.paid.size === 240)).toBeLessThan(seconds);
  expect(shop.questions()).toBeLessThanOrEqual(360);
  await all;
});

it('keeps up with five notifications a second if one answer of fifty is a 429 by chance', async () => {
  const shop = await openShop(() => 1_000, Infinity);
  let seed = 1;
  shop.limit.isUnlucky = () => (seed = (seed * 16_807) % 2_147_483_647) % 50 === 0;
  let late = 0;
  for (let count = 0; count < 1_500; count++) {
    void shop.payments.receive(succeeded(`order-${count}`)).catch(() => late++);
    await vi.advanceTimersByTimeAsync(200);
  }
  await vi.advanceTimersByTimeAsync(20_000);
  expect(shop.paid.size).toBeGreaterThan(1_400);
  expect(shop.paid.size + late).toBe(1_500);
});

/** A shop with two orders and one question at a time, whose credit or client misbehaves. */
async function openSmallShop(
  changes: {
    readonly credit?: () => Promise<never>;
    readonly getPayment?: () => Promise<void>;
  },
  stored = { amount: 1_000, currency: 'XOF' },
) {
  const { createPayments, memoryOrders } = await import('../src/index.js');
  const { orders, add } = memoryOrders();
  const price = { amount: 1_000, currency: 'XOF' };
  for (const reference of ['order-1', 'order-2']) add({ reference, ...stored });
  const getPayment = async (reference: string) => {
    await changes.getPayment?.();
    return { reference, status: 'success', ...price };
  };
  const credit = vi.fn(orders.credit);
  if (changes.credit) credit.mockImplementationOnce(changes.credit);
  const logger = { warn: vi.fn(), error: vi.fn() };
  const own = { ...orders, credit };
  const payments = createPayments({ client: { getPayment }, orders: own, logger, concurrency: 1 });
  return { payments, credit, logger };
}

it('lets a question end in the second half of its time if its turn came in the first', async () => {
  const { payments } = await openSmallShop({
    getPayment: () => new Promise((resolve) => setTimeout(resolve, 6_000)),
  });
  // The last one waits for the run of its order until then.
  const all = ['order-1', 'order-2', 'order-2'];
  const receiving = all.map((reference) => payments.receive(succeeded(reference)));
  await vi.advanceTimersByTimeAsync(12_000);
  await Promise.all(receiving);
});

it('ends a run at its time, which no step begins again', async () => {
  const { payments } = await openSmallShop({
    getPayment: () => new Promise((resolve) => setTimeout(resolve, 9_000)),
    credit: () => new Promise(() => undefined),
  });
  const ended = vi.fn();
  payments.receive(succeeded()).catch(ended);
  await vi.advanceTimersByTimeAsync(20_100);
  expect(ended).toHaveBeenCalledWith(expect.objectContaining({ code: 'handler_timeout' }));
});

it('keeps the order of a credit that never settles for five minutes, and no longer', async () => {
  const { payments, credit } = await openSmallShop({ credit: () => new Promise(() => undefined) });
  const settleAfter = async (milliseconds: number) => {
    await vi.advanceTimersByTimeAsync(milliseconds);
    const settling = payments.settle('order-1', { wait: 1_000 });
    await vi.advanceTimersByTimeAsync(1_000);
    return settling;
  };
  expect(await settleAfter(0)).toEqual({ status: 'unavailable' });
  expect(await settleAfter(298_000)).toEqual({ status: 'unavailable' });
  expect(credit).toHaveBeenCalledOnce();
  expect((await settleAfter(1_000)).status).toBe('paid');
});

it('ends a run of the schedule after ten minutes', async () => {
  const { createPayments } = await import('../src/index.js');
  const getPayment = async (reference: string) => {
    await new Promise((resolve) => setTimeout(resolve, 10_000));
    return { reference, status: 'pending' };
  };
  const row = { amount: 1_000, currency: 'XOF', paid: false };
  const orders = { find: (reference: string) => ({ ...row, reference }), credit: () => 0 };
  const payments = createPayments({ client: { getPayment }, orders });
  const running = payments.reconcile(numbered('order', 70), { concurrency: 1 });
  await vi.advanceTimersByTimeAsync(610_000);
  expect(await running).toMatchObject({ pending: { count: 60 }, notAsked: { count: 10 } });
});

it('asks nothing after a pause in which the schedule was aborted, and goes on there', async () => {
  const getPayment = vi.fn(async () => undefined).mockRejectedValueOnce(refusalOf(429, 60_000));
  const { payments } = await openSmallShop({ getPayment });
  await payments.settle('order-1');
  const controller = new AbortController();
  const onProgress = vi.fn();
  const running = payments.reconcile(undefined, { signal: controller.signal, onProgress });
  const ended = expect(running).rejects.toThrow('the process ends');
  await vi.advanceTimersByTimeAsync(1_000);
  controller.abort(new Error('the process ends'));
  await ended;
  await vi.advanceTimersByTimeAsync(120_000);
  expect(getPayment).toHaveBeenCalledOnce();
  expect(onProgress).toHaveBeenLastCalledWith(expect.objectContaining({ cursor: '0:order-1' }));
});

it('asks again after 30 seconds for a page that has polled for an hour, and 2 after an error', async () => {
  const { createPayments } = await import('../src/index.js');
  const getPayment = vi.fn(async (reference: string) => {
    if (getPayment.mock.calls.length === 3) throw new Error('no connection');
    return { reference, status: 'pending' };
  });
  const row = { reference: 'order-1', amount: 1_000, currency: 'XOF', paid: false };
  const orders = { find: () => row, credit: () => 0 };
  const payments = createPayments({ client: { getPayment }, orders });
  for (const [milliseconds, questions, status] of [
    [0, 1, 'pending'],
    [3_600_000, 2, 'pending'],
    [29_999, 2, 'pending'],
    [1, 3, 'unavailable'],
    [1_999, 3, 'unavailable'],
    [1, 4, 'pending'],
  ] as const) {
    await vi.advanceTimersByTimeAsync(milliseconds);
    expect((await payments.settle('order-1')).status).toBe(status);
    expect(getPayment).toHaveBeenCalledTimes(questions);
  }
});

it('logs a case for a person once, although the schedule reads it each hour', async () => {
  const { payments, logger } = await openSmallShop({}, { amount: 1, currency: 'XOF' });
  for (let hours = 0; hours < 3; hours++) {
    expect((await payments.reconcile(['order-1'])).undecided.count).toBe(1);
    await vi.advanceTimersByTimeAsync(3_600_000);
  }
  expect(logger.error).toHaveBeenCalledOnce();
});

it('pauses for a minute at most if the service says nothing, however often it refused', async () => {
  const { payments } = await openSmallShop({ getPayment: () => Promise.reject(refusalOf(429)) });
  let longest = 0;
  for (let tries = 0; tries < 10; tries++) {
    const receiving = payments.receive(succeeded('order-1')).catch((error: unknown) => error);
    await vi.advanceTimersByTimeAsync(10_000);
    const { retryAfter } = (await receiving) as { readonly retryAfter: number };
    longest = Math.max(longest, retryAfter);
    await vi.advanceTimersByTimeAsync(retryAfter);
  }
  expect(longest).toBeGreaterThan(50_000);
  expect(longest).toBeLessThanOrEqual(60_250);
});

it('doubles the pause although a connection was lost between two refusals', async () => {
  const answers = [refusalOf(429), new Error('reset by peer'), refusalOf(429), refusalOf(429)];
  const { payments } = await openSmallShop({ getPayment: () => Promise.reject(answers.shift()!) });
  let pause: number | undefined;
  for (let tries = 0; tries < 2; tries++) {
    const receiving = payments.receive(succeeded('order-1')).catch((error: unknown) => error);
    await vi.advanceTimersByTimeAsync(10_000);
    pause = ((await receiving) as { readonly retryAfter?: number }).retryAfter;
  }
  expect(answers).toEqual([]);
  expect(pause).toBeGreaterThanOrEqual(4_000);
});

it('logs an outage again after a minute', async () => {
  const { payments, logger } = await openSmallShop({
    getPayment: () => Promise.reject(new Error('connect ECONNREFUSED')),
  });
  for (const lines of [1, 1, 2, 2]) {
    expect((await payments.settle('order-1')).status).toBe('unavailable');
    expect(logger.error).toHaveBeenCalledTimes(lines);
    await vi.advanceTimersByTimeAsync(31_000);
  }
});
