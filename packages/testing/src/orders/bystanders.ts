/** The checks that a payment pays its own order alone, however similar another reference is. */
import type { OrdersCheck } from './check.js';
import { expectCredit } from './find.js';
import type { Shop } from './shop.js';

const SIMILAR: Readonly<Record<string, (reference: string) => string>> = {
  'in another case': (reference) => reference.toUpperCase(),
  'with a trailing blank': (reference) => `${reference} `,
  'with a leading zero': (reference) => `0${reference}`,
  'with a suffix': (reference) => `${reference}abc`,
  'with a fraction': (reference) => `${reference}.0`,
  'with an accent': (reference) => reference.replace(/^./, (letter) => `${letter}\u0301`),
  'with a composed accent': (reference) => reference.replace(/^a/, '\u00e1'),
};

export function checkBystanders(shop: Shop): OrdersCheck[] {
  return [
    {
      title: 'credit leaves another order of the same amount unpaid',
      async run() {
        const [bystander, order] = [await shop.create(), await shop.create()];
        await expectCredit(shop, order);
        if (await shop.isPaid(bystander))
          throw new Error(
            'credit paid another order too. The condition does not name the reference: look for an' +
              ' undefined field in it.',
          );
      },
    },
    ...Object.entries(SIMILAR).map(([differs, similarTo]) => ({
      title: `credit leaves an order unpaid whose reference is the same ${differs}`,
      async run() {
        const order = await shop.create();
        const similar = { ...order, reference: similarTo(order.reference) };
        if (similar.reference === order.reference) return;
        const isStored = (await shop.refusal(similar)) === undefined;
        // A column that refuses this reference may also refuse a search for it.
        const found = await shop.find(similar).catch(() => undefined);
        if (!isStored && found?.reference === similar.reference)
          throw new Error(
            `find gives an order for a reference ${differs}, under that reference. Return the` +
              ' reference as the database stores it, never the argument.',
          );
        if (isStored && found?.reference !== similar.reference)
          throw new Error(
            `find gives another order for a reference ${differs}. Give the column a binary` +
              ' collation, and compare references as text.',
          );
        await expectCredit(shop, order);
        if (isStored && (await shop.isPaid(similar)))
          throw new Error(
            `credit also paid the order whose reference is the same ${differs}. Give the column a` +
              ' binary collation, and compare references as text.',
          );
      },
    })),
  ];
}
