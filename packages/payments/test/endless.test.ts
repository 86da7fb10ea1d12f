/** Lists that end badly, rows whose getters throw, and callers that come together. */
import { beforeEach, describe, expect, it, vi } from 'vitest';
import type { Order, Orders, References } from '../src/index.js';
import { failure, openShop, REFERENCE, succeeded } from './shop.js';

describe('a list', { tags: 'Q03' }, () => {
  const two = ['order-1', 'order-2'];
  const never = new Promise<never>(() => undefined);
  const gone = new Error('the cursor is gone');
  const closed = vi.fn();
  beforeEach(() => void closed.mockClear());

  async function* hanging(before: readonly string[]) {
    try {
      yield* before;
      await never;
    } finally {
      closed();
    }
  }
  async function* failing(before: readonly string[]) {
    yield* before;
    throw gone;
  }

  it.each<[string, () => References | PromiseLike<References>, RegExp]>([
    ['that never comes', () => never, /unpaid\(\) did not end/],
    ['that cannot be read', () => Promise.reject(gone), /cursor is gone/],
    [
      'that throws',
      () => {
        throw gone;
      },
      /cursor is gone/,
    ],
    ['that hangs before its first reference', () => hanging([]), /unpaid\(\) did not end/],
    ['that hangs in the middle', () => hanging(two), /unpaid\(\) did not end/],
    ['that throws before its first reference', () => failing([]), /cursor is gone/],
    ['that throws in the middle', () => failing(two), /cursor is gone/],
  ])('%s rejects the run', async (_, list, message) => {
    const orders = { unpaid: list, paid: list };
    const { payments, find } = openShop({ timeout: 50, orders });
    await expect(payments.reconcile()).rejects.toThrow(message);
    find.mockClear();
    const same = new RegExp(message.source.replace('un', ''));
    await expect(payments.verify()).rejects.toThrow(same);
    const patient = openShop({ timeout: 300_000, orders }).payments;
    const timeLimit = message.source.includes('did not end') ? 20 : 60_000;
    await expect(patient.reconcile(undefined, { timeLimit })).rejects.toThrow(message);
  });

  it.each([
    ['hangs', hanging],
    ['throws', failing],
  ])('has its first references settled if it %s in the middle', async (_, list) => {
    const { payments, isPaid } = openShop({ timeout: 500, orders: { unpaid: () => list(two) } });
    await failure(payments.reconcile());
    expect(await isPaid()).toBe(true);
  });

  it('is told by its signal if it hangs, and its cursor is closed', async () => {
    let signal: AbortSignal | undefined;
    async function* stopped() {
      try {
        yield* two;
        await new Promise((_, reject) => signal!.addEventListener('abort', reject));
      } finally {
        closed();
      }
    }
    const unpaid: Orders['unpaid'] = (context) => {
      ({ signal } = context);
      return stopped();
    };
    const { payments } = openShop({ timeout: 50, orders: { unpaid } });
    await failure(payments.reconcile());
    await vi.waitFor(() => expect(closed).toHaveBeenCalledOnce());
  });

  it('is closed if the run is aborted while it is slow', async () => {
    async function* slow() {
      try {
        for (let index = 0; ; index++) {
          await new Promise((resolve) => setTimeout(resolve, 10));
          yield `order-${index}`;
        }
      } finally {
        closed();
      }
    }
    const { payments, find } = openShop({ orders: { unpaid: slow } });
    const controller = new AbortController();
    setTimeout(() => controller.abort(gone), 50);
    const { signal } = controller;
    await expect(payments.reconcile(undefined, { signal })).rejects.toBe(gone);
    await vi.waitFor(() => expect(closed).toHaveBeenCalledOnce());
    expect(find).not.toHaveBeenCalled();
  });

  it.each<[string, () => References]>([
    [
      'without a pause',
      function* () {
        try {
          for (;;) yield REFERENCE;
        } finally {
          closed();
        }
      },
    ],
    [
      'row by row',
      async function* () {
        try {
          for (;;) yield REFERENCE;
        } finally {
          closed();
        }
      },
    ],
  ])(
    'is read no longer than the run if it repeats one reference forever %s',
    async (_how, unpaid) => {
      const { payments } = openShop({ orders: { unpaid } });
      await expect(payments.reconcile(undefined, { timeLimit: 100 })).rejects.toThrow(
        'did not end',
      );
      await vi.waitFor(() => expect(closed).toHaveBeenCalled());
    },
  );
});

it('the longest time limit cuts no order', async () => {
  const { payments } = openShop();
  const report = await payments.reconcile([REFERENCE], { timeLimit: 2_147_483_647 });
  expect(report).toMatchObject({ credited: { count: 1 }, errors: { count: 0 } });
});

it(
  'a row whose getters throw is orders_unavailable, and stops no other order',
  { tags: 'P07' },
  async () => {
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
  },
);

describe('callers of one order', () => {
  it('read the row a few times, although fifty notifications come together', async () => {
    const { payments, find } = openShop({ answer: { amount: 2_000 } });
    const all = Array.from({ length: 50 }, () => failure(payments.receive(succeeded())));
    for (const error of await Promise.all(all)) expect(error.code).toBe('amount_differs');
    expect(find.mock.calls.length).toBeLessThanOrEqual(4 * 50);
  });
});

it('names a client that gives no payment', async () => {
  const { payments } = openShop({ answer: () => undefined });
  const { message } = await failure(payments.receive(succeeded()));
  expect(message).toContain('look for a missing `return`');
});

const unpaid = (reference: string): Order => {
  return { reference, amount: 1_000, currency: 'XOF', paid: false };
};

it.each([
  ['find throws', { orders: { find: () => Promise.reject(new Error('invalid input syntax')) } }],
  ['find hangs', { orders: { find: () => new Promise<never>(() => undefined) }, timeout: 50 }],
  ['the service fails', { answer: new Error('connect ECONNREFUSED'), orders: { find: unpaid } }],
])('logs that %s once a minute, however many orders strangers name', async (_, options) => {
  const { payments, logger } = openShop(options);
  for (let number = 0; number < 20; number++) await payments.settle(`x${number}`);
  expect(logger.error).toHaveBeenCalledOnce();
});
