/** Broken and right `orders` in memory: one file for all, caches, sources, tenants. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { memoryOrders, type Order, type Orders } from '@paylink/payments';
import { testOrders, type TestOrdersOptions } from '@paylink/testing';
import { expect, it, vi } from 'vitest';
import { faultsOf, type Broken } from './faults.js';

const { orders, add } = memoryOrders();
const seen = new Set<string>();
const expired = new Set<string>();
const receipts = new Map<string, number>();

function broken(changes: Partial<Orders>, options: Partial<TestOrdersOptions> = {}): Broken {
  return { orders: { ...orders, ...changes }, createOrder: add, ...options };
}
const tenants = ['a', 'b'] as const;

let file: Record<string, Order> = {};
const inOneFile: Broken = {
  createOrder: ({ tenant: _, ...order }) =>
    void (file[order.reference] = { ...order, paid: false }),
  orders: {
    find: (reference) => file[reference],
    async credit({ reference, amount, currency }) {
      const order = file[reference];
      if (order?.amount !== amount || order.currency !== currency) return 0;
      if (seen.has(reference)) return 0;
      seen.add(reference);
      const copy = { ...file, [reference]: { ...order, paid: true } };
      await nextTurn();
      file = copy;
      return 1;
    },
  },
};

const faults: Record<string, readonly [Broken, RegExp]> = {
  'one file that each credit writes whole': [inOneFile, /^Simultaneous calls for different orders/],
  'a schedule that credits without the tenant': [
    broken(
      {
        credit: (payment, { source, tenant, ...rest }) =>
          orders.credit(payment, {
            ...rest,
            source,
            tenant: source === 'reconcile' ? 'a' : tenant,
          }),
      },
      { tenants },
    ),
    /^credit returned 1 for a payment of another tenant/,
  ],
  'a `find` to which no tenant means every tenant': [
    broken({ find: (it, context) => orders.find(it, { ...context, tenant: 'a' }) }, { tenants }),
    /^find returns an order to another tenant, or to null/,
  ],
  'an amount in units that becomes 1998.9999999999998': [
    broken({
      async find(reference, context) {
        const order = await orders.find(reference, context);
        return order && { ...order, amount: (Number(order.amount) / 100) * 100 };
      },
    }),
    /^find returns the amount 1998\.9/,
  ],
  'a reference that is remembered before it is credited': [
    broken({
      credit(payment, context) {
        if (seen.has(payment.reference)) return 0;
        seen.add(payment.reference);
        return orders.credit(payment, context);
      },
    }),
    /^After a payment of another amount, credit no longer pays the order by its own payment/,
  ],
  'a receipt for the webhook alone': [
    broken(
      {
        async credit(payment, context) {
          const count = await orders.credit(payment, context);
          if (count === 1 && context.source === 'webhook') receipts.set(payment.reference, 1);
          return count;
        },
      },
      { effects: (reference) => receipts.get(reference) ?? 0 },
    ),
    /^effects counts 0 after a credit of the source 'settle'/,
  ],
  'an expired order that counts as paid': [
    broken(
      {
        async find(reference, context) {
          const order = await orders.find(reference, context);
          return order && { ...order, paid: order.paid || expired.has(reference) };
        },
      },
      { later: { expire: (reference) => expired.add(reference) } },
    ),
    /^After expire, find reports an unpaid order as paid/,
  ],
};

it.concurrent.each(Object.keys(faults))('names the fault of %s', async (name) => {
  const [options, sentence] = faults[name]!;
  expect(await faultsOf(options, sentence)).toContainEqual(expect.stringMatching(sentence));
});

it('accuses no right orders of a missing tenant, nor of an error that is returned', async () => {
  vi.spyOn(console, 'warn').mockReturnValue(undefined);
  const options = broken(
    {
      find(reference, context) {
        if (context.tenant === null) throw new Error('no tenant');
        return orders.find(reference, context);
      },
    },
    {
      tenants,
      createOrder: (order) => (order.amount < 100 ? { error: new Error('too small') } : add(order)),
    },
  );
  expect(await faultsOf(options)).toEqual([]);
});

it.each<readonly [string, object]>([
  ['an unknown option', { tenant: 'a' }],
  ['createOrder must be a function', { createOrder: undefined }],
  ['effects must be a function', { effects: 1 }],
  ['later.ship must be a function', { later: { ship: true } }],
  ['orders.unpaid must be a function', { orders: { ...memoryOrders().orders, unpaid: [] } }],
  ['tenants must be two different tenants', { tenants: ['a'] }],
  ['tenants must be two different tenants', { tenants: ['a', 'a'] }],
  ['tenants must be two different tenants', { tenants: ['a', undefined] }],
])('registers no test, because %s', (message, wrong) => {
  const test = vi.fn();
  const right = { test, orders: memoryOrders().orders, createOrder: () => Promise.resolve() };
  expect(() => testOrders({ ...right, ...wrong })).toThrow(message);
  expect(test).not.toHaveBeenCalled();
});
