/** The checks of `unpaid` and `paid`, which `reconcile` and `verify` read. */
import { inspect } from 'node:util';
import type { Orders } from '@paylink/payments';
import { NotTested, type OrdersCheck } from './check.js';
import { bounded, type NewOrder, type Shop } from './shop.js';

type ListName = 'unpaid' | 'paid';

/** Milliseconds. What a longer list holds is not judged. */
const LIST_END = 600;
/** More than a small LIMIT, as long as the database stores them in time. */
const LATER_ORDERS = 20;
const LATER_ORDERS_END = 700;
/** Longer than the steps of a DATETIME, so that the order by `created_at` is certain. */
const NEXT_SECOND = 1_100;

// Fake timers replace them later.
const { setTimeout } = globalThis;
const now = performance.now.bind(performance);

export function checkLists(
  shop: Shop,
  orders: Orders,
  tenants: readonly [string, string] | undefined,
): OrdersCheck[] {
  const untestedOf = (name: ListName): string | undefined =>
    orders[name] === undefined ? `needs orders.${name}` : undefined;
  return [
    ...(['unpaid', 'paid'] as const).map((name) => ({
      title: `${name} lists the ${name} orders, and no other`,
      untested: untestedOf(name),
      run: () => expectRightList(shop, orders, name, tenants),
    })),
    {
      title: 'unpaid still lists an order after later ones were added',
      untested: untestedOf('unpaid'),
      run: () => expectEarlyOrder(shop, orders),
    },
  ];
}

async function expectRightList(
  shop: Shop,
  orders: Orders,
  name: ListName,
  tenants: readonly [string, string] | undefined,
): Promise<void> {
  const listsUnpaid = name === 'unpaid';
  const order = await shop.create();
  const lookFor = async (which: string, expected: boolean) => ({
    which,
    isListed: await isListed(orders, name, order, expected),
  });
  const before = await lookFor('a new unpaid order', listsUnpaid);
  await shop.credit(order);
  const after = await lookFor('an order after its credit', !listsUnpaid);
  const [own, other] = listsUnpaid ? [before, after] : [after, before];
  if (listsUnpaid && own.isListed === false && other.isListed !== true) throw notListed();
  if (own.isListed === false) throw missing(name, own.which);
  if (other.isListed === true) throw foreign(name, other.which);
  if (tenants === undefined) return;
  const theirs = await shop.create({ tenant: tenants[1] });
  if (name === 'paid') await shop.credit(theirs);
  if ((await isListed(orders, name, { ...theirs, tenant: tenants[0] }, false)) === true)
    throw foreign(name, "another tenant's order");
}

async function expectEarlyOrder(shop: Shop, orders: Orders): Promise<void> {
  const early = await shop.create();
  await new Promise((resolve) => setTimeout(resolve, NEXT_SECOND));
  let last = await shop.create();
  const end = now() + LATER_ORDERS_END;
  for (let count = 1; count < LATER_ORDERS && now() < end; count++) last = await shop.create();
  const isLastListed = await isListed(orders, 'unpaid', last, true);
  const earlier = { ...early, before: last.reference };
  const isEarlyListed = await isListed(orders, 'unpaid', earlier, true);
  if (isLastListed === false && isEarlyListed === false) throw notListed();
  if (isLastListed === false) throw missing('unpaid', 'a new unpaid order');
  if (isEarlyListed === false)
    throw new Error(
      'unpaid no longer lists an unpaid order after later ones were added, or lists it' +
        ' behind them. List the oldest first (ORDER BY created_at), and look for a LIMIT.',
    );
}

/** Shops may leave out young orders, and the suite has no others. */
function notListed(): NotTested {
  return new NotTested('unpaid lists no new order: it leaves out young orders, or finds none');
}

function missing(name: ListName, which: string): Error {
  const advice = 'Look for its condition, for a LIMIT, and for a cache.';
  return new Error(`${name} does not list ${which}. ${advice}`);
}

function foreign(name: ListName, which: string): Error {
  const advice = 'Look for its condition on the payment and on the tenant.';
  return new Error(`${name} lists ${which}. ${advice}`);
}

/**
 * Returns `undefined` if the list is too long to read to its end. Looks twice for an order that
 * should be listed, because a stream that was read is empty.
 */
async function isListed(
  orders: Orders,
  name: ListName,
  order: NewOrder & { before?: string },
  expected: boolean,
): Promise<boolean | undefined> {
  const first = await bounded(name, () => findInList(orders, name, order));
  if (!expected || first.isListed === undefined) return first.isListed;
  const second = await bounded(name, () => findInList(orders, name, order));
  if (second.isListed === false && (first.isListed || first.list === second.list))
    throw new Error(
      `${name} does not list a new order at the second call. Start a new query or stream at each` +
        ' call, never one for all calls.',
    );
  return second.isListed;
}

async function findInList(
  orders: Orders,
  name: ListName,
  { reference, tenant, before }: NewOrder & { before?: string },
): Promise<{ readonly list: unknown; readonly isListed: boolean | undefined }> {
  const { signal } = new AbortController();
  const list: unknown = await orders[name]!({ tenant, signal });
  if (!isIterable(list))
    throw new Error(`it gives ${inspect(list, { depth: -1 })}, and must give an array or a stream`);
  const end = now() + LIST_END;
  for await (const item of list) {
    if (typeof item !== 'string')
      throw new Error(`it lists ${inspect(item, { depth: 0 })}, and must list references as text`);
    if (item === before) return { list, isListed: false };
    if (item === reference) return { list, isListed: true };
    if (now() > end) return { list, isListed: undefined };
  }
  return { list, isListed: false };
}

function isIterable(list: unknown): list is Iterable<unknown> | AsyncIterable<unknown> {
  return (
    typeof list === 'object' &&
    list !== null &&
    (Symbol.iterator in list || Symbol.asyncIterator in list)
  );
}
