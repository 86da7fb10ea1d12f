/** The checks that a reference is one text, however similar another one is. */
import type { OrdersCheck } from './check.js';
import { expectPaid } from './find.js';
import type { NewOrder, Shop } from './shop.js';

type Spell = (reference: string) => string;

const COLLATION = 'Give the column a binary collation, and compare references as text.';
const PATTERN = 'Compare references by =, never by LIKE, ~ or another pattern.';
const asIs: Spell = (reference) => reference;

/** Each is stored as an order of its own, if the database takes it. */
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
};
/** Orders whose own reference is special, and the other spelling. */
const SPECIAL: Readonly<Record<string, readonly [own: Spell, similar: Spell]>> = {
  'with a decomposed accent': [(it) => `\u00e9${it}`, (it) => `e\u0301${it}`],
  'with a composed accent': [(it) => `e\u0301${it}`, (it) => `\u00e9${it}`],
  'with + for a blank': [(it) => `a ${it}`, (it) => `a+${it}`],
};
const WILDCARDS = ['_', '%', '.'];
/** Codes that shops put before and behind a number. */
const PREFIXES = [
  ...['ord-', 'order-', 'ORDER-', 'order_', 'order:', '#', 'INV-', 'REF-', 'pay_', 'shop-'],
  ...['shop/', 'x-', 'X', '+', '00', '{', '/'],
];
const SUFFIXES = ['-1', '-2', '_2', '#2', ':2', '/2', '.2', ' 2', '-retry', '?try=2', '}', ',x'];

export function checkSpellings(shop: Shop): OrdersCheck[] {
  const pairs = Object.entries(SIMILAR).map(([differs, similar]) => [differs, asIs, similar]);
  const special = Object.entries(SPECIAL).map(([differs, spells]) => [differs, ...spells]);
  return [
    ...([...pairs, ...special] as [string, Spell, Spell][]).map(([differs, own, similar]) => ({
      title: `an order is another than the one whose reference is the same ${differs}${own === asIs ? '' : ' instead'}`,
      run: () => expectApart(shop, { own, similar, differs, fix: COLLATION }),
    })),
    ...WILDCARDS.map((wildcard) => ({
      title: `${wildcard} in a reference is no wildcard`,
      run: () =>
        expectApart(shop, {
          own: asIs,
          similar: (reference) => reference.replace('-', wildcard),
          differs: `with ${wildcard} in it`,
          fix: PATTERN,
        }),
    })),
    {
      title: 'find gives nothing for a reference with a further prefix or suffix',
      async run() {
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
    },
  ];
}

interface Pair {
  readonly own: Spell;
  readonly similar: Spell;
  readonly differs: string;
  readonly fix: string;
}

/** Expects that two orders are two, for `find` and for `credit`, whichever is paid first. */
async function expectApart(shop: Shop, { own, similar, differs, fix }: Pair): Promise<void> {
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
      if (found[0]?.reference !== first.reference || found[1]?.reference !== second.reference)
        throw new Error(
          `find gives ${found.includes(undefined) ? 'no' : 'another'} order for a reference ${differs}. ${fix}`,
        );
    }
    if (isTurned && !isStored) return;
    const count = await shop.credit(first);
    if (isStored && (await shop.isPaid(second)))
      throw new Error(`credit also paid the order whose reference is the same ${differs}. ${fix}`);
    await expectPaid(shop, first, count);
  }
}

function echoed(differs: string): Error {
  return new Error(
    `find gives an order for a reference ${differs}, under that reference. Return the reference as` +
      ' the database stores it, never the argument.',
  );
}
