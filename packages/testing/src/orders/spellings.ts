/** The checks that similar references stay apart. */
import { expectOneOrder } from './bystanders.js';
import { expectPaid } from './find.js';
import type { NewOrder } from './order.js';
import type { Checks, Shop } from './shop.js';

type Spell = (reference: string) => string;

const FIX =
  'Compare references with =, as text, in a column with a binary collation: never with LIKE, ~ or' +
  ' another pattern, nor by their beginning.';
const asIs: Spell = (reference) => reference;

/** The suite stores each as a separate order, if the database accepts it. */
const SIMILAR: Readonly<Record<string, Spell>> = {
  'in another case': (reference) => reference.toUpperCase(),
  'with a trailing blank': (reference) => `${reference} `,
  'with a leading blank': (reference) => ` ${reference}`,
  'with a line break': (reference) => `${reference}\n`,
  'with a leading zero': (reference) => `0${reference}`,
  'with a suffix': (reference) => `${reference}abc`,
  'with a prefix': (reference) => `ORD-${reference}`,
  'with a fraction': (reference) => `${reference}.0`,
  'with an accent': (reference) => reference.replace(/^./, (letter) => `${letter}\u0301`),
  'with a composed accent': (reference) => reference.replace(/^a/, '\u00e1'),
  'without hyphens': (reference) => reference.replaceAll('-', ''),
  'and cut': (reference) => reference.slice(0, -1),
  'percent-encoded': (reference) =>
    reference.replace(/^./, (letter) => `%${letter.charCodeAt(0).toString(16)}`),
  'with _ in it': (reference) => reference.replace('-', '_'),
  'with % in it': (reference) => reference.replace('-', '%'),
  'with . in it': (reference) => reference.replace('-', '.'),
};
/** Orders whose own reference is special, and the other spelling. */
const SPECIAL: Readonly<Record<string, readonly [own: Spell, similar: Spell]>> = {
  'with a decomposed accent for a composed one': [(it) => `\u00e9${it}`, (it) => `e\u0301${it}`],
  'with a composed accent for a decomposed one': [(it) => `e\u0301${it}`, (it) => `\u00e9${it}`],
  'with + for a blank': [(it) => `a ${it}`, (it) => `a+${it}`],
};
/** Codes that shops put before and behind a number. */
const PREFIXES = [
  ...['ord-', 'order-', 'ORDER-', 'order_', 'order:', '#', 'INV-', 'REF-', 'pay_', 'shop-'],
  ...['shop/', 'x-', 'X', '+', '00', '{', '/'],
];
const SUFFIXES = ['-1', '-2', '_2', '#2', ':2', '/2', '.2', ' 2', '-retry', '?try=2', '}', ',x'];

export const SPELLINGS: Checks = {
  ...Object.fromEntries(
    [
      ...Object.entries(SIMILAR).map(([differs, similar]) => ({ own: asIs, similar, differs })),
      ...Object.entries(SPECIAL).map(([differs, [own, similar]]) => ({ own, similar, differs })),
    ].map((pair) => [
      `an order is not mistaken for one whose reference is the same ${pair.differs}`,
      (shop: Shop) => expectApart(shop, pair),
    ]),
  ),
  async 'find returns nothing for a reference with a further prefix or suffix'(shop) {
    const { reference, tenant } = await shop.create();
    const longer = [
      ...PREFIXES.map((prefix) => [prefix, `${prefix}${reference}`]),
      ...SUFFIXES.map((suffix) => [suffix, `${reference}${suffix}`]),
    ] as const;
    await Promise.all(
      longer.map(async ([part, asked]) => {
        const found = await shop.find({ reference: asked!, tenant }).catch(() => undefined);
        if (found?.reference === asked) throw echoed(`that has ${part} in addition`);
      }),
    );
  },
};

interface Pair {
  readonly own: Spell;
  readonly similar: Spell;
  readonly differs: string;
}

/** Expects that `find` and `credit` keep two orders apart, in either order of payment. */
async function expectApart(shop: Shop, { own, similar, differs }: Pair): Promise<void> {
  for (const isTurned of [false, true]) {
    const plain = await shop.newReference();
    const order: NewOrder = { ...shop.sample, reference: own(plain) };
    const other: NewOrder = { ...order, reference: similar(plain) };
    if (other.reference === order.reference) return;
    const [first, second] = isTurned ? [other, order] : [order, other];
    if ((await shop.refusal(first)) !== undefined) return;
    // A database may store a text in another form.
    const isSpecial = own !== asIs || isTurned;
    if (isSpecial && (await shop.find(first).catch(() => undefined)) === undefined) return;
    // A column that refuses this reference may also refuse a search for it.
    const early = await shop.find(second).catch(() => undefined);
    if (early?.reference === second.reference) throw echoed(differs);
    const isStored = (await shop.refusal(second)) === undefined;
    if (isStored) {
      const found = await Promise.all([shop.find(first), shop.find(second)]);
      if (found[0]?.reference !== first.reference || found[1]?.reference !== second.reference) {
        await expectOneOrder(shop);
        throw new Error(
          `find returns ${found.includes(undefined) ? 'no' : 'another'} order for a reference ${differs}. ${FIX}`,
        );
      }
    }
    if (isTurned && !isStored) return;
    const count = await shop.credit(first);
    if (isStored && (await shop.isPaid(second))) {
      await expectOneOrder(shop);
      throw new Error(`credit also paid the order whose reference is the same ${differs}. ${FIX}`);
    }
    await expectPaid(shop, first, count);
  }
}

function echoed(differs: string): Error {
  return new Error(
    `find returns an order for a reference ${differs}, under that reference. Return the reference` +
      ' as the database stores it, never the argument.',
  );
}
