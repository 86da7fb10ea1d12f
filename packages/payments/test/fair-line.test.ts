import { describe, expect, it, vi } from 'vitest';
import { failure, openMany, openShop, REFERENCE, refusalOf, succeeded } from './shop.js';

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

it('fifty webhooks of one pending order make two questions', async () => {
  const { payments, client } = openShop({ answer: { status: 'pending' } });
  const all = Array.from({ length: 50 }, () => failure(payments.receive(succeeded())));
  for (const error of await Promise.all(all)) expect(error.code).toBe('payment_pending');
  expect(client.getPayment.mock.calls.length).toBeLessThanOrEqual(2);
});
