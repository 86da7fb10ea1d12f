import { describe, expect, it } from 'vitest';
import { failure, openMany, openShop, REFERENCE, refusalOf, succeeded } from './shop.js';

describe('a reference that is not a string', () => {
  it.each([
    ['an object without toString', { toString: 'x' }],
    ['an array', [REFERENCE]],
    ['a symbol', Symbol('x')],
    ['undefined', undefined],
  ])('is unknown, and nothing is asked, if it is %s', async (_, value) => {
    const { payments, find, client } = openShop();
    const reference = value as unknown as string;
    const both = await Promise.all([payments.settle(reference), payments.settle(REFERENCE)]);
    expect(both).toMatchObject([{ status: 'unknown' }, { status: 'paid' }]);
    find.mockClear();
    client.getPayment.mockClear();
    expect(await payments.explain(reference)).toMatchObject({ outcome: 'unknown_order' });
    expect(find).not.toHaveBeenCalled();
    expect(client.getPayment).not.toHaveBeenCalled();
  });
});

/** An error of an HTTP client that got no response. */
class HttpError extends Error {
  readonly response: { status: number; retryAfter: number } | undefined;
  get status(): number {
    return this.response!.status;
  }
  get retryAfter(): number {
    return this.response!.retryAfter;
  }
}

describe('an error whose getters throw', () => {
  it('ends its question if the client threw it, and the order is credited at the next try', async () => {
    const answers = [new HttpError('socket hang up'), {}];
    const { payments, isPaid } = openShop({ answer: () => answers.shift() });
    expect(await failure(payments.receive(succeeded()))).toMatchObject({
      code: 'confirm_unavailable',
    });
    await payments.receive(succeeded());
    expect(await isPaid()).toBe(true);
  });

  it('leaves explain with a reason if find threw it', async () => {
    const { payments, find } = openShop();
    const unreadable = Object.defineProperty(new Error(), 'message', {
      get: () => {
        throw new TypeError('no message');
      },
    });
    find.mockRejectedValue(unreadable);
    expect(await payments.explain(REFERENCE)).toMatchObject({
      outcome: 'orders_unavailable',
      reason: 'find() threw: an error that cannot be read',
    });
  });

  it.each(['find', 'credit'])('does not end reconcile if %s threw it', async (name) => {
    const { memory, payments, ...shop } = openShop();
    memory.add({ reference: 'order-2', amount: 1_000, currency: 'XOF' });
    shop[name as 'find'].mockRejectedValueOnce(new HttpError('no connection'));
    const report = await payments.reconcile(undefined, { concurrency: 1 });
    expect(report).toMatchObject({ credited: { count: 1 }, errors: { count: 1 } });
  });
});

it(
  'an answer whose getter throws is an error of its own order, and of no other',
  { tags: 'P07' },
  async () => {
    const { memory, payments, client } = openShop();
    memory.add({ reference: 'order-2', amount: 1_000, currency: 'XOF' });
    client.getPayment.mockImplementation(async (reference) => ({
      ...{ reference, status: 'success', currency: 'XOF' },
      get amount(): number {
        if (reference === REFERENCE) throw new TypeError('no amount');
        return 1_000;
      },
    }));
    const report = await payments.reconcile(undefined, { concurrency: 1 });
    expect(report).toMatchObject({ credited: { count: 1 }, errors: { count: 1 } });
    expect(await payments.settle(REFERENCE)).toEqual({ status: 'unavailable' });
    expect(await failure(payments.receive(succeeded()))).toMatchObject({
      code: 'confirm_unavailable',
      cause: { message: 'no amount' },
    });
  },
);

it('a client that changes its options gets the tenant again after a 429', async () => {
  const { payments, client } = openShop();
  client.getPayment.mockImplementationOnce(async (_, options) => {
    options.tenant = 'another';
    throw refusalOf(429, 0);
  });
  await payments.receive(succeeded());
  expect(client.getPayment.mock.calls.map(([, { tenant }]) => tenant)).toEqual(['another', null]);
});

it('a client may replace the signal of its options', async () => {
  const { payments, client } = openShop();
  const { signal } = new AbortController();
  client.getPayment.mockImplementationOnce(async (_, options) => {
    options.signal = signal;
    expect({ ...options }).toEqual({ tenant: null, signal });
    throw refusalOf(429, 0);
  });
  await payments.receive(succeeded());
  expect(client.getPayment.mock.calls[1]![1].signal).not.toBe(signal);
});

it('a 401 of credit does not count as a refused API key', async () => {
  const { payments, credit } = openMany(3, {});
  credit.mockRejectedValue(refusalOf(401));
  expect(await payments.reconcile()).toMatchObject({ keyRefused: false, errors: { count: 3 } });
});
