/** The checks of `find`. */
import { inspect } from 'node:util';
import type { Order } from '@paylink/payments';
import { boundsOf, type NewOrder } from './order.js';
import { NotTested, paidOf, type Checks, type Shop } from './shop.js';

/** Several, because the read may be late. */
const ROUNDS = 4;
/** The smallest, one that 19.99 * 100 misses, beyond a 32-bit float, beyond a 32-bit integer. */
const AMOUNTS = [1, 1_999, 16_777_217, 2_147_483_648];

export const FIND: Checks = {
  async 'find returns nothing for a reference that no order has'(shop) {
    await shop.create();
    if ((await shop.find(await shop.unstored())) !== undefined)
      throw new Error(
        'find returns an order for a reference that no order has. Return undefined or null.',
      );
  },
  async 'find returns a new order with its reference, amount and currency, unpaid and open'(shop) {
    const order = await shop.create();
    expectAsStored(await shop.find(order), order);
  },
  async 'find returns an order that was stored after find was first asked about it'(shop) {
    const order = await shop.unstored();
    await shop.find(order).catch(() => undefined);
    const reason = await shop.refusal(order);
    if (reason !== undefined) throw new NotTested(reason);
    if ((await shop.find(order)) === undefined)
      throw new Error(
        'find was asked about a reference before its order was stored, and still finds' +
          ' nothing afterwards. Turn off the cache in find.',
      );
  },
  async 'find returns the currency of the order'(shop) {
    const order = await shop.create({ currency: 'XAF' });
    const found = await shop.find(order);
    if (found?.currency === order.currency) return expectCredit(shop, order);
    await shop.tryCredit(order);
    // A shop of one currency may store none.
    if (!(await shop.isPaid(order))) throw new NotTested('createOrder stores one currency');
    expectAsStored({ ...found!, paid: false }, order);
  },
  async 'find throws or returns nothing if its read fails'(shop) {
    const { tenant, reference } = await shop.create();
    // Text columns refuse the first two, and indexes the third.
    const texts = [`${reference}\0`, `${reference}\ud800`, reference.repeat(300)];
    for (const unreadable of [...texts, createUnreadable()]) {
      const found = await shop.find({ reference: unreadable, tenant }).catch(() => undefined);
      if (found?.paid === true || found?.reference === unreadable)
        throw new Error(
          `find returns ${found.paid ? 'a paid order' : 'an order'} if its read fails. Let it` +
            ' throw: Paylink then answers 503, so that the service can try again.',
        );
    }
  },
  ...Object.fromEntries(
    AMOUNTS.map((amount) => [
      `an order of ${amount} is found and credited exactly`,
      async (shop: Shop) => {
        const order = await shop.create({ amount });
        expectAsStored(await shop.find(order), order);
        await expectCredit(shop, order);
      },
    ]),
  ),
  async 'find sees a credit, even if find was called before or during the credit'(shop) {
    await expectCredit(shop, await shop.create());
    for (let round = 0; round < ROUNDS; round++) {
      const known = await shop.create();
      await shop.isPaid(known);
      await shop.isPaid(known);
      await Promise.all([shop.credit(known), shop.find(known)]);
      if (!(await shop.isPaid(known)))
        throw new Error(
          'find was called before the credit or meanwhile, and still returns an unpaid order' +
            ' after it. Turn off the cache in find, and fork an entity manager or create a' +
            ' loader for each call.',
        );
    }
  },
};

/**
 * A reference that drivers refuse to send. A function, because some native drivers end the process
 * for an object. MongoDB's would leave a function out of the filter.
 */
function createUnreadable(): string {
  const fail = (): never => {
    throw new Error('this read fails on purpose');
  };
  return Object.assign(() => undefined, { toBSON: fail }) as unknown as string;
}

function expectAsStored(found: Order | undefined, order: NewOrder): void {
  expectUnpaid(found, order);
  const { amount, currency, closed } = found!;
  const bounds = boundsOf(amount);
  if (bounds === undefined)
    throw new Error(
      `find returns the amount ${inspect(amount)}. An amount is a whole number above 0 in the` +
        ' smallest unit: a number, a bigint or digits, or { min, max } of these with 0 ≤' +
        ' min ≤ max.',
    );
  const stored = BigInt(order.amount);
  if (typeof amount === 'object') {
    if (stored < bounds.min || stored > bounds.max)
      throw new NotTested(`the bounds of find do not contain ${stored}`);
  } else if (stored !== bounds.min)
    throw new Error(
      `createOrder stored the amount ${stored}, but find returns ${inspect(amount)}. Store` +
        ' amounts as bigint, never as float, and return the amount of the order, not of' +
        ' a joined row.',
    );
  if (currency !== order.currency)
    throw new Error(
      `createOrder stored the currency ${inspect(order.currency)}, but find returns` +
        ` ${inspect(currency)}. Select the column, and store it as text, never as padded CHAR.`,
    );
  if (closed !== undefined && typeof closed !== 'boolean')
    throw new Error(`closed must be true, false or absent, but find returns ${inspect(closed)}.`);
  if (closed === true) throw new Error('A new order must be open, but find returns closed: true.');
}

/** Expects an unpaid order of this reference. */
export function expectUnpaid(found: Order | undefined, order: NewOrder): void {
  if (paidOf(found))
    throw new Error(
      'A new order must be unpaid, but find reports it as paid. Look for `!== null` of a column' +
        " that was not selected, for `!!` of 'N', '0' or BIT(1), and for a column with a default.",
    );
  if (found!.reference !== order.reference)
    throw new Error(
      `find returns the reference ${inspect(found!.reference)} for ${inspect(order.reference)}.` +
        ' Return the reference as the database stores it.',
    );
}

/** Credits the order, and expects a changed row that `find` shows. */
export async function expectCredit(shop: Shop, order: NewOrder): Promise<void> {
  await expectPaid(shop, order, await shop.credit(order));
}

/** Judges a credit by the row. Triggers and carts may change more than one row. */
export async function expectPaid(shop: Shop, order: NewOrder, count: number | null): Promise<void> {
  if (count === 0)
    throw new Error(
      (await shop.isPaid(order))
        ? 'credit returned 0, but paid the order. Return the number of rows that the write changed:' +
            ' with Supabase, add .select() and return the length of data.'
        : 'credit changed no row for an unpaid order with the right amount and currency. Compare' +
            ' the types of the columns with those of the parameters, and look for `= NULL`, for' +
            ' an error that is ignored, and for row level security that hides the row from' +
            ' this role.',
    );
  if (!(await shop.isPaid(order)))
    throw new Error(
      `credit returned ${count}, but find reports the order as unpaid. Look for a missing await` +
        ' or COMMIT, a ROLLBACK, a constant count, a `paid` of another column or value than the' +
        ' write sets, and a cache, a replica or another database behind find.',
    );
  if ((await shop.find(order))?.closed === true)
    throw new Error(
      'credit paid an open order, but find returns closed: true for it, so that Paylink reports' +
        ' each payment as one of a closed order. closed is for orders that end without a payment.',
    );
}
