/** The checks of `unpaid` and `paid`, which `reconcile` and `verify` read. */
import { inspect } from 'node:util';
import type { Orders } from '@paylink/payments';
import type { OrdersCheck } from './check.js';
import { bounded, type NewOrder, type Shop } from './shop.js';

type ListName = 'unpaid' | 'paid';

/** Milliseconds. What a longer list holds is not judged. */
const LIST_END = 1_000;

// Fake timers replace it later.
const now = performance.now.bind(performance);

export function checkLists(
  shop: Shop,
  orders: Orders,
  tenants: readonly [string, string] | undefined,
): OrdersCheck[] {
  return (['unpaid', 'paid'] as const).map((name) => ({
    title: `${name} lists the ${name} orders, and no other`,
    untested: orders[name] === undefined ? `needs orders.${name}` : undefined,
    async run() {
      const order = await shop.create();
      await expectListed(orders, name, order, name === 'unpaid', 'a new unpaid order');
      await shop.credit(order);
      await expectListed(orders, name, order, name === 'paid', 'an order after its credit');
      if (tenants === undefined) return;
      const foreign = await shop.create({ tenant: tenants[1] });
      if (name === 'paid') await shop.credit(foreign);
      const seen = { ...foreign, tenant: tenants[0] };
      await expectListed(orders, name, seen, false, "another tenant's order");
    },
  }));
}

async function expectListed(
  orders: Orders,
  name: ListName,
  order: NewOrder,
  expected: boolean,
  which: string,
): Promise<void> {
  const isListed = await bounded(name, () => findInList(orders, name, order));
  if (isListed === undefined || isListed === expected) return;
  throw new Error(
    expected
      ? `${name} does not list ${which}. Look for its condition, for a LIMIT, and for a cache.`
      : `${name} lists ${which}. Look for its condition on the payment and on the tenant.`,
  );
}

/** Returns `undefined` if the list is too long to read to its end. */
async function findInList(
  orders: Orders,
  name: ListName,
  { reference, tenant }: NewOrder,
): Promise<boolean | undefined> {
  const { signal } = new AbortController();
  const list: unknown = await orders[name]!({ tenant, signal });
  if (!isIterable(list))
    throw new Error(`it gives ${inspect(list, { depth: -1 })}, and must give an array or a stream`);
  const end = now() + LIST_END;
  for await (const item of list) {
    if (typeof item !== 'string')
      throw new Error(`it lists ${inspect(item, { depth: 0 })}, and must list references as text`);
    if (item === reference) return true;
    if (now() > end) return undefined;
  }
  return false;
}

function isIterable(list: unknown): list is Iterable<unknown> | AsyncIterable<unknown> {
  return (
    typeof list === 'object' &&
    list !== null &&
    (Symbol.iterator in list || Symbol.asyncIterator in list)
  );
}
