/** The checks of `unpaid` and `paid`, which `reconcile` and `verify` read. */
import { inspect } from 'node:util';
import type { NewOrder } from './order.js';
import { bounded, NotTested, type Checks, type Shop } from './shop.js';

type ListName = 'unpaid' | 'paid';

/** Milliseconds to read a list. The suite does not judge the rest of a longer list. */
const LIST_END = 600;
/** More than a LIMIT of 100, as long as the database stores them in time. */
const LATER_ORDERS = 110;
const LATER_ORDERS_END = 1_500;
const TOGETHER = 10;
/** Longer than the steps of a DATETIME, so that the order by `created_at` is certain. */
const NEXT_SECOND = 1_100;

// Fake timers replace them later.
const { setTimeout } = globalThis;
const now = performance.now.bind(performance);

export const UNPAID: Checks = {
  async 'unpaid lists the unpaid orders, and no other'(shop) {
    const order = await shop.create();
    await expectListed(shop, 'unpaid', order);
    await shop.credit(order);
    await expectNotListed(shop, 'unpaid', order, 'an order after its credit');
    await expectListOfTenant(shop, 'unpaid');
  },
  'unpaid lists the oldest order first, and the newest too': expectOldestFirst,
};

export const PAID: Checks = {
  async 'paid lists the paid orders, and no other'(shop) {
    const order = await shop.create();
    await expectNotListed(shop, 'paid', order, 'a new unpaid order');
    await shop.credit(order);
    await expectListed(shop, 'paid', order);
    await expectListOfTenant(shop, 'paid');
  },
};

async function expectListOfTenant(shop: Shop, name: ListName): Promise<void> {
  const { tenants } = shop.options;
  if (tenants === undefined) return;
  const theirs = await shop.create({ tenant: tenants[1] });
  if (name === 'paid') await shop.credit(theirs);
  await expectListed(shop, name, theirs);
  await expectNotListed(shop, name, { ...theirs, tenant: tenants[0] }, "another tenant's order");
}

async function expectOldestFirst(shop: Shop): Promise<void> {
  const early = await shop.create();
  await new Promise((resolve) => setTimeout(resolve, NEXT_SECOND));
  const between: NewOrder[] = [];
  const end = now() + LATER_ORDERS_END;
  while (between.length < LATER_ORDERS && now() < end)
    between.push(...(await Promise.all(Array.from({ length: TOGETHER }, () => shop.create()))));
  const last = await shop.create();
  const { references, isWhole } = await readList(shop, 'unpaid', last.tenant);
  const places = new Map(references.map((reference, place) => [reference, place]));
  const placeOf = ({ reference }: NewOrder): number => places.get(reference) ?? Infinity;
  const after = between.filter((order) => placeOf(order) > placeOf(last)).length;
  // Without an ORDER BY, a database lists some orders behind later ones.
  const isTurned = placeOf(early) > placeOf(last) && after > between.length * 0.9;
  const isMissing = [early, ...between].some(({ reference }) => !places.has(reference));
  if (places.has(last.reference) && (isMissing ? isWhole : isTurned))
    throw new Error(
      'unpaid no longer lists an unpaid order after later ones were added, or lists it' +
        ' behind them. List the oldest first (ORDER BY created_at), and look for a LIMIT, and for' +
        ' a page that starts after a time, which several orders can have.',
    );
  await expectListed(shop, 'unpaid', last);
}

/** Looks twice, because a stream that was read is empty. */
async function expectListed(shop: Shop, name: ListName, order: NewOrder): Promise<void> {
  const first = await readList(shop, name, order.tenant);
  const second = await readList(shop, name, order.tenant);
  if (second.references.includes(order.reference) || !second.isWhole) return;
  if (first.references.includes(order.reference) || first.list === second.list)
    throw new Error(
      `${name} does not list a new order at the second call. Start a new query or stream at each` +
        ' call, never one for all calls.',
    );
  if (first.isWhole) await explainAbsence(shop, name, order.tenant, second.references);
}

/** Distinguishes a LIMIT from a shop that leaves out young orders: this suite has no others. */
async function explainAbsence(
  shop: Shop,
  name: ListName,
  tenant: string | null,
  references: readonly string[],
): Promise<void> {
  const limit = new Error(
    `${name} lists ${references.length} orders, and not the newest. Look for a LIMIT, which would` +
      ' cut the same orders each time, for its condition, for a cache, and for pages by time.',
  );
  for (const reference of new Set([...references.slice(0, 1), ...references.slice(-1)])) {
    const found = await shop.find({ reference, tenant });
    if (found?.reference !== reference)
      throw new Error(
        `${name} lists ${inspect(reference)}, but find returns no order with that reference. List` +
          ' the references as the database stores them, and only those of the tenant.',
      );
    if (found.paid !== (name === 'paid')) throw foreignOrder(name, `an order that is not ${name}`);
  }
  if (name === 'paid') throw limit;
  if (references.length >= 20 && references.length % 10 === 0) throw limit;
  const [oldest] = references;
  if (oldest !== undefined) {
    // The place of a paid order goes to the next one, if there is a LIMIT.
    const found = await shop.find({ reference: oldest, tenant });
    const { amount, currency } = found!;
    if (typeof amount === 'object' || found!.closed === true) throw young();
    await shop.tryCredit({ reference: oldest, amount: Number(amount), currency, tenant });
    const after = await readList(shop, name, tenant);
    const isOver = after.references.includes(oldest);
    if (!isOver && after.references.length === references.length) throw limit;
  }
  throw young();
}

function young(): NotTested {
  return new NotTested('unpaid lists no new order: it leaves out young orders, or finds none');
}

async function expectNotListed(
  shop: Shop,
  name: ListName,
  { reference, tenant }: NewOrder,
  which: string,
): Promise<void> {
  const { references } = await readList(shop, name, tenant);
  if (references.includes(reference)) throw foreignOrder(name, which);
}

function foreignOrder(name: ListName, which: string): Error {
  const advice = 'Look for its condition on the payment and on the tenant.';
  return new Error(`${name} lists ${which}. ${advice}`);
}

interface List {
  readonly list: unknown;
  readonly references: readonly string[];
  /** False if the list is too long to read to its end. */
  readonly isWhole: boolean;
}

export function readList(
  { options: { orders } }: Shop,
  name: ListName,
  tenant: string | null,
): Promise<List> {
  return bounded(name, async () => {
    const { signal } = new AbortController();
    const list: unknown = await orders[name]!({ tenant, signal });
    if (!isIterable(list))
      throw new Error(
        `it returned ${inspect(list, { depth: -1 })}, but must return an array or a stream`,
      );
    const references: string[] = [];
    const end = now() + LIST_END;
    for await (const item of list) {
      if (typeof item !== 'string')
        throw new Error(
          `it lists ${inspect(item, { depth: 0 })}, but must list references as text`,
        );
      references.push(item);
      if (now() > end) return { list, references, isWhole: false };
    }
    return { list, references, isWhole: true };
  });
}

function isIterable(list: unknown): list is Iterable<unknown> | AsyncIterable<unknown> {
  return (
    typeof list === 'object' &&
    list !== null &&
    (Symbol.iterator in list || Symbol.asyncIterator in list)
  );
}
