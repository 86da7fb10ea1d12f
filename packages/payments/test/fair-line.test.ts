import { describe, expect, it, vi } from 'vitest';
import {
  deferred,
  failure,
  openMany,
  openShop,
  REFERENCE,
  refusalOf,
  succeeded,
  tick,
} from './shop.js';

const never = new Promise<never>(() => undefined);

describe('a reference that the service refuses each time', () => {
  it('is asked twice in each of two tries, and cuts no run of the schedule', async () => {
    const answer = (reference: string) => (reference === REFERENCE ? refusalOf(429, 10) : {});
    const { payments, asked, logger } = openMany(6, answer);
    const report = await payments.reconcile();
    expect(report).toMatchObject({ credited: { count: 5 }, cursor: undefined });
    expect(report.errors).toMatchObject({ references: [REFERENCE] });
    expect(asked().filter((each) => each === REFERENCE)).toHaveLength(4);
    expect(logger.error).not.toHaveBeenCalled();
  });

  it('leaves the others to the next run if it pauses the line for longer than this one', async () => {
    const { payments, logger } = openMany(30, refusalOf(429, 60_000));
    const report = await payments.reconcile(undefined, { concurrency: 1, timeLimit: 1_000 });
    expect(report).toMatchObject({ notAsked: { count: 30 }, cursor: '0:order-1' });
    expect(logger.error).not.toHaveBeenCalled();
  });
});

describe('questions that hang', () => {
  it('keep the others from being asked, who are told after half of their run', async () => {
    const { payments } = openMany(3, () => never, { concurrency: 2, timeout: 400 });
    const started = performance.now();
    const all = ['order-1', 'order-2', 'order-3'].map((each) =>
      failure(payments.receive(succeeded(each))).then(({ code }) => [code, performance.now()]),
    );
    const told = await Promise.all(all);
    expect(told.map(([code]) => code)).toEqual([
      'handler_timeout',
      'handler_timeout',
      'confirm_unavailable',
    ]);
    expect((told[2]![1] as number) - started).toBeLessThan(390);
  });

  it('stall nobody after a 429, if there is one', async () => {
    const answers = [refusalOf(429, 1)];
    const { payments, client } = openMany(2, (reference) =>
      reference === REFERENCE ? (answers.shift() ?? never) : {},
    );
    const hanging = payments.settle(REFERENCE);
    await vi.waitFor(() => expect(client.getPayment).toHaveBeenCalledTimes(2), 2_000);
    expect((await payments.settle('order-2', { wait: 1_500 })).status).toBe('paid');
    await hanging;
  });
});

describe('the Retry-After of a 429', () => {
  it('pauses the line for longer with each refusal if it is 0', async () => {
    const times: number[] = [];
    const { payments } = openShop({
      answer() {
        times.push(performance.now());
        return refusalOf(429, 0);
      },
    });
    await failure(payments.receive(succeeded()));
    await failure(payments.receive(succeeded()));
    expect(times[1]! - times[0]!).toBeGreaterThanOrEqual(249);
    expect(times[2]! - times[1]!).toBeGreaterThanOrEqual(499);
  });

  it('is lengthened at random, so that processes do not return together', async () => {
    const random = vi.spyOn(Math, 'random').mockReturnValue(0.99);
    const { payments } = openShop({ answer: refusalOf(429, 60_000) });
    const { retryAfter } = await failure(payments.receive(succeeded()));
    random.mockRestore();
    expect(retryAfter).toBeGreaterThan(60_100);
  });

  it('pauses the line for one hour if it is longer', async () => {
    const { payments } = openMany(2, refusalOf(429, 9_999_999_999_000));
    const errors = await Promise.all(
      [REFERENCE, 'order-2'].map((each) => failure(payments.receive(succeeded(each)))),
    );
    for (const { retryAfter } of errors) expect(retryAfter).toBeLessThanOrEqual(3_600_250);
  });
});

it.each([
  ['payment_pending', { status: 'pending' }],
  ['no_payment', refusalOf(404)],
])('fifty webhooks of one order make two questions if it is %s', async (code, answer) => {
  const { payments, client } = openShop({ answer });
  const all = Array.from({ length: 50 }, () => failure(payments.receive(succeeded())));
  for (const error of await Promise.all(all)) expect(error.code).toBe(code);
  expect(client.getPayment.mock.calls.length).toBeLessThanOrEqual(2);
});

it('two pages, one webhook and one order of the schedule are asked about in turn', async () => {
  const first = deferred<object>();
  const answers = [first.promise];
  const { payments, asked } = openMany(9, () => answers.shift() ?? {}, { concurrency: 1 });
  const waiting: Promise<unknown>[] = [payments.settle(REFERENCE)];
  await tick();
  for (const each of [2, 3, 4, 5]) waiting.push(payments.settle(`order-${each}`));
  for (const each of [6, 7]) waiting.push(payments.receive(succeeded(`order-${each}`)));
  waiting.push(payments.reconcile(['order-8', 'order-9']));
  await tick();
  first.resolve({});
  await Promise.all(waiting);
  const kinds = asked().map((each) => 'ppppwwss'[Number(each.slice(6)) - 2] ?? 'p');
  expect(kinds.join('')).toBe('ppwpspwps');
});

it('asks nothing if the schedule is aborted in a pause of the service', async () => {
  const { payments, asked } = openMany(1, refusalOf(429, 0));
  const controller = new AbortController();
  const running = failure(payments.reconcile(undefined, { signal: controller.signal }));
  await vi.waitFor(() => expect(asked()).toHaveLength(2), 2_000);
  await tick();
  controller.abort(new Error('the process ends'));
  expect((await running).message).toBe('the process ends');
  // The pause of the second refusal lasts from 500 to 750 ms.
  await new Promise((resolve) => setTimeout(resolve, 1_000));
  expect(asked()).toHaveLength(2);
});
