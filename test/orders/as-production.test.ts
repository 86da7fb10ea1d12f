/** `testOrders` judges what `find` gives by the same rules as `createPayments`. */
import { createPayments, memoryOrders, type Order, type Orders } from '@paylink/payments';
import { testOrders } from '@paylink/testing';
import { expect, it } from 'vitest';

class Entity {
  constructor(private readonly row: Order) {}
  get reference(): string {
    return this.row.reference;
  }
  get amount(): Order['amount'] {
    return this.row.amount;
  }
  get currency(): string {
    return this.row.currency;
  }
  get paid(): boolean {
    return this.row.paid;
  }
}
const withAmount =
  (change: (amount: number) => unknown) =>
  (order: Order): unknown => ({ ...order, amount: change(Number(order.amount)) });

/** What a `find` makes of a stored order. */
const CHANGES: Readonly<Record<string, (order: Order) => unknown>> = {
  'a bound below 0': withAmount((amount) => ({ min: amount - 5_000, max: amount })),
  'bounds that are crossed': withAmount((amount) => ({ min: amount, max: amount - 1 })),
  'one bound': withAmount((amount) => ({ min: amount })),
  'bounds from 0': withAmount((amount) => ({ min: 0, max: amount })),
  'bounds as text': withAmount((amount) => ({ min: '0.00', max: `${amount}.00` })),
  'an amount of 0': withAmount(() => 0),
  'a negative amount': withAmount((amount) => -amount),
  'a negative bigint': withAmount((amount) => -BigInt(amount)),
  'a bigint': withAmount(BigInt),
  'a fraction of 40 zeros': withAmount((amount) => `${amount}.${'0'.repeat(40)}`),
  'a fraction of 60 zeros': withAmount((amount) => `${amount}.${'0'.repeat(60)}`),
  'more than 40 digits': withAmount((amount) => String(amount).padStart(41, '0')),
  'a line feed after the digits': withAmount((amount) => `${amount}\n`),
  'a boxed number': withAmount((amount) => new Number(amount)),
  'an amount that only a Proxy knows': withAmount(
    (amount) => new Proxy({}, { get: (_, name) => (name === 'min' ? 0 : amount) }),
  ),
  'a row that only a Proxy knows': (order) =>
    new Proxy({}, { get: (_, name) => order[name as keyof Order] }),
  'a row without a prototype': (order) => Object.assign(Object.create(null) as object, order),
  'an entity with getters': (order) => new Entity(order),
  'an empty currency': (order) => ({ ...order, currency: '' }),
  'a `closed` that is null': (order) => ({ ...order, closed: null }),
};

it.each(Object.keys(CHANGES))('judges %s as production does', async (name) => {
  const { orders, add } = memoryOrders();
  const find = async (...call: Parameters<Orders['find']>): Promise<Order | null | undefined> => {
    const order = await orders.find(...call);
    return order && (CHANGES[name]!(order) as Order);
  };
  const faults: string[] = [];
  const runs: (() => Promise<void>)[] = [];
  testOrders({
    orders: { ...orders, find },
    createOrder: ({ reference, amount, currency }) => add({ reference, amount, currency }),
    test: (title, run) => title.startsWith('find returns a new order') && runs.push(run),
  });
  for (const run of runs)
    await run().catch((error: unknown) => faults.push((error as Error).message));
  expect(runs).toHaveLength(1);

  add({ reference: 'order-42', amount: 1_500, currency: 'XOF' });
  const payment = { reference: 'order-42', status: 'success', amount: 1_500, currency: 'XOF' };
  const client = { getPayment: () => Promise.resolve(payment) };
  const payments = createPayments({ client, orders: { ...orders, find } });
  const { outcome } = await payments.explain('order-42');
  expect({ isAccused: faults.length > 0 }).toEqual({ isAccused: outcome !== 'credited' });
});
