/** The checks of `find`. */
import { inspect } from 'node:util';
import type { Order } from '@paylink/payments';
import { NotTested, type OrdersCheck } from './check.js';
import { boundsOf } from './order.js';
import { paidOf, type NewOrder, type Shop } from './shop.js';

/** The smallest, one that 19.99 * 100 misses, beyond a 32-bit float, beyond a 32-bit integer. */
const AMOUNTS = [1, 1_999, 16_777_217, 2_147_483_648];

export function checkFind(shop: Shop): OrdersCheck[] {
  return [
    {
      title: 'find gives nothing for a reference that no order has',
      async run() {
        const { tenant } = await shop.create();
        const found = await shop.find({ reference: await shop.newReference(), tenant });
        if (found !== undefined)
          throw new Error(
            'find gives an order for a reference that no order has. Return undefined or null.',
          );
      },
    },
    {
      title: 'find gives a new order with its reference, amount and currency, unpaid and open',
      async run() {
        const order = await shop.create();
        expectAsStored(await shop.find(order), order);
      },
    },
    {
      title: 'find gives an order that was stored after find was first asked about it',
      async run() {
        const { tenant, amount, currency } = await shop.create();
        const order = { reference: await shop.newReference(), amount, currency, tenant };
        await shop.find(order).catch(() => undefined);
        const reason = await shop.refusal(order);
        if (reason !== undefined) throw new NotTested(reason);
        if ((await shop.find(order)) === undefined)
          throw new Error(
            'find was asked about a reference before its order was stored, and finds nothing after' +
              ' it. A cache answers: turn it off in find.',
          );
      },
    },
    {
      title: 'find gives the currency of the order',
      async run() {
        const order = await shop.create({ currency: 'XAF' });
        const found = await shop.find(order);
        if (found?.currency === order.currency) return expectCredit(shop, order);
        await shop.tryCredit(order);
        // A shop of one currency may store none.
        if (!(await shop.isPaid(order))) throw new NotTested('createOrder stores one currency');
        expectAsStored({ ...found!, paid: false }, order);
      },
    },
    {
      title: 'find throws or gives nothing if its read fails',
      run: () => expectNothingOfFailedRead(shop),
    },
    ...AMOUNTS.map((amount) => ({
      title: `an order of ${amount} is found and credited exactly`,
      async run() {
        const order = await shop.create({ amount });
        expectAsStored(await shop.find(order), order);
        await expectCredit(shop, order);
      },
    })),
    {
      title: 'find sees a credit, also if it was called before',
      async run() {
        await expectCredit(shop, await shop.create());
        const known = await shop.create();
        for (let time = 0; time < 2; time++) await shop.isPaid(known);
        await shop.credit(known);
        if (!(await shop.isPaid(known)))
          throw new Error(
            'find was called before the credit, and still says unpaid after it. A cache answers:' +
              ' turn it off in find, and fork an entity manager or create a loader for each call.',
          );
      },
    },
  ];
}

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

async function expectNothingOfFailedRead(shop: Shop): Promise<void> {
  const { tenant, reference } = await shop.create();
  // Text columns refuse the first two, and indexes the third.
  const texts = [`${reference}\0`, `${reference}\ud800`, reference.repeat(300)];
  for (const unreadable of [...texts, createUnreadable()]) {
    const found = await shop.find({ reference: unreadable, tenant }).catch(() => undefined);
    if (found?.paid === true || found?.reference === unreadable)
      throw new Error(
        `find gives ${found.paid ? 'a paid order' : 'an order'} if its read fails. Let it throw: the` +
          ' notification is then answered 503, and comes again.',
      );
  }
}

function expectAsStored(found: Order | undefined, order: NewOrder): void {
  if (paidOf(found))
    throw new Error(
      'A new order must be unpaid, and find says that it is paid. Look for `!== null` of a column' +
        " that was not selected, for `!!` of 'N', '0' or BIT(1), and for a column with a default.",
    );
  const { reference, amount, currency, closed } = found!;
  if (reference !== order.reference)
    throw new Error(
      `find gives the reference ${inspect(reference)} for ${inspect(order.reference)}.` +
        ' Return the reference as the database stores it.',
    );
  const bounds = boundsOf(amount);
  if (bounds === undefined)
    throw new Error(
      `find gives the amount ${inspect(amount)}. An amount is a whole number above 0 in the smallest` +
        ' unit: a number, a bigint or digits, or { min, max } of these with 0 ≤ min ≤ max.',
    );
  const stored = BigInt(order.amount);
  if (stored < bounds.min || stored > bounds.max)
    throw new Error(
      `createOrder stored the amount ${stored}, and find gives ${inspect(amount)}.` +
        ' Store amounts as bigint, never as float.',
    );
  if (currency !== order.currency)
    throw new Error(
      `createOrder stored the currency ${inspect(order.currency)}, and find gives` +
        ` ${inspect(currency)}. Select the column, and store it as text, never as padded CHAR.`,
    );
  if (closed !== undefined && typeof closed !== 'boolean')
    throw new Error(`closed must be true, false or absent, and find gives ${inspect(closed)}.`);
  if (closed === true) throw new Error('A new order must be open, and find says closed: true.');
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
        ? 'credit returned 0, and paid the order. Return the number of rows that the write changed:' +
            ' with Supabase, add .select() and return the length of data.'
        : 'credit changed no row for an unpaid order with the right amount and currency. Compare' +
            ' the types of the columns with those of the parameters, and look for `= NULL`, for an' +
            ' error that is ignored, and for row level security that hides the row from this role.',
    );
  if (!(await shop.isPaid(order)))
    throw new Error(
      `credit returned ${count}, and find says that the order is unpaid. Look for a missing await` +
        ' or COMMIT, a constant count, a replica or another database behind find.',
    );
}
