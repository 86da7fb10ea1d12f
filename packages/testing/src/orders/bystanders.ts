/** The checks that a payment pays its own order alone, however similar another order is. */
import type { OrdersCheck } from './check.js';
import { expectPaid } from './find.js';
import type { NewOrder, Shop } from './shop.js';

const COLLATION = 'Give the column a binary collation, and compare references as text.';
const SIMILAR: Readonly<Record<string, (reference: string) => string>> = {
  'in another case': (reference) => reference.toUpperCase(),
  'with a trailing blank': (reference) => `${reference} `,
  'with a leading zero': (reference) => `0${reference}`,
  'with a suffix': (reference) => `${reference}abc`,
  'with a fraction': (reference) => `${reference}.0`,
  'with an accent': (reference) => reference.replace(/^./, (letter) => `${letter}\u0301`),
  'with a composed accent': (reference) => reference.replace(/^a/, '\u00e1'),
};
const PATTERN = 'Compare references by =, never by LIKE, ~ or another pattern.';
const WILDCARDS = ['_', '%', '.'];

export function checkBystanders(shop: Shop): OrdersCheck[] {
  return [
    {
      title: 'credit leaves another order of the same amount unpaid',
      async run() {
        const bystander = await shop.create();
        const orders = [await shop.create(), await shop.create(), await shop.create()];
        await Promise.all(orders.map(async (order) => shop.credit(order)));
        if (await shop.isPaid(bystander))
          throw new Error(
            'credit paid another order too. The condition does not name the reference: look for an' +
              ' undefined field in it.',
          );
        const asked = [...orders, ...[...orders].reverse()];
        const found = await Promise.all(asked.map(async (order) => shop.find(order)));
        if (asked.some(({ reference }, i) => found[i]?.reference !== reference || !found[i].paid))
          throw new Error(
            'Simultaneous calls of different orders mix them up. Look for a variable outside of find' +
              ' and credit, for a loader whose rows have another order, and for a write of all orders.',
          );
      },
    },
    {
      title: 'credit leaves orders of another amount and currency as they are',
      async run() {
        const order = await shop.create();
        const bystanders: NewOrder[] = [];
        for (const other of [{ amount: order.amount + 1 }, { currency: 'XAF' }]) {
          const bystander = { ...order, reference: await shop.newReference(), ...other };
          // A shop of one currency refuses the other.
          if ((await shop.refusal(bystander)) === undefined) bystanders.push(bystander);
        }
        await shop.credit(order);
        for (const bystander of bystanders) {
          const found = await shop.find(bystander);
          if (found === undefined)
            throw new Error('credit removed another order. It must change the paid order alone.');
          if (found.paid)
            throw new Error(
              'credit paid an order of another amount or currency too. Its conditions must all' +
                ' hold: join them by AND.',
            );
        }
      },
    },
    ...Object.entries(SIMILAR).map(([differs, similarTo]) => ({
      title: `credit leaves an order unpaid whose reference is the same ${differs}`,
      async run() {
        const order = await shop.create();
        const similar = { ...order, reference: similarTo(order.reference) };
        if (similar.reference === order.reference) return;
        const isStored = (await shop.refusal(similar)) === undefined;
        await expectApart(shop, { order, similar, isStored, differs, fix: COLLATION });
      },
    })),
    ...WILDCARDS.map((wildcard) => ({
      title: `credit takes ${wildcard} in a reference for no wildcard`,
      async run() {
        const similar = await shop.create();
        const order = { ...similar, reference: similar.reference.replace('-', wildcard) };
        if (order.reference === similar.reference) return;
        if ((await shop.refusal(order)) !== undefined) return;
        const found = await shop.find(order);
        if (found?.reference !== order.reference)
          throw new Error(
            `find gives another order for a reference with ${wildcard} in it. ${PATTERN}`,
          );
        const differs = `without ${wildcard}`;
        await expectApart(shop, { order, similar, isStored: true, differs, fix: PATTERN });
      },
    })),
  ];
}

interface Pair {
  readonly order: NewOrder;
  readonly similar: NewOrder;
  readonly isStored: boolean;
  readonly differs: string;
  readonly fix: string;
}

/** Credits the order, and expects that the similar one is another for `find` and for `credit`. */
async function expectApart(
  shop: Shop,
  { order, similar, isStored, differs, fix }: Pair,
): Promise<void> {
  // A column that refuses this reference may also refuse a search for it.
  const found = await shop.find(similar).catch(() => undefined);
  if (!isStored && found?.reference === similar.reference)
    throw new Error(
      `find gives an order for a reference ${differs}, under that reference. Return the` +
        ' reference as the database stores it, never the argument.',
    );
  if (isStored && found?.reference !== similar.reference)
    throw new Error(`find gives another order for a reference ${differs}. ${fix}`);
  const count = await shop.credit(order);
  if (isStored && (await shop.isPaid(similar)))
    throw new Error(`credit also paid the order whose reference is the same ${differs}. ${fix}`);
  await expectPaid(shop, order, count);
}
