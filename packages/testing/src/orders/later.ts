/** The checks of later changes: an order is shipped, refunded, edited, closed or linked again. */
import type { Order, Orders } from '@paylink/payments';
import { NotTested, untestedCheck, type OrdersCheck } from './check.js';
import { printCount } from './count.js';
import { expectCredit } from './find.js';
import { readList } from './lists.js';
import { boundsOf } from './order.js';
import type { NewOrder } from './order.js';
import { bounded, messageOf, paidOf, type Shop } from './shop.js';

type Change = (reference: string) => unknown;

/** Changes that a shop makes only to paid orders, so that an unpaid order may count as paid. */
const OF_PAID_ORDERS =
  /ship|deliver|fulfil|refund|return|sent|send|complete|archive|dispute|invoice/i;
const OF_LINKS = /link|attempt|again/i;
const AT_ONCE = 20;

export function checkLater(
  shop: Shop,
  orders: Orders,
  later: Readonly<Record<string, Change>> | undefined,
): OrdersCheck[] {
  const closing = 'an order that is closed stays unpaid';
  if (later === undefined || Object.keys(later).length === 0)
    return [
      untestedCheck('a paid order stays paid after later changes', 'needs the option later'),
      untestedCheck(closing, 'needs the option later, with a change that closes an order'),
    ];
  return Object.entries(later).flatMap(([name, change]) => {
    const make = async ({ reference }: NewOrder): Promise<unknown> =>
      bounded(`later.${name}`, async () => change(reference));
    const checks = [
      {
        title: `a paid order stays paid after ${name}`,
        run: () => expectStillPaid(shop, name, make),
      },
      {
        title: `an unpaid order is closed or can be paid after ${name}`,
        run: () => expectClosedOrPayable(shop, orders, name, make),
      },
      {
        title: `no order is paid and closed if ${name} and its payment happen at once`,
        run: () => expectOneOfTwo(shop, name, make),
      },
    ];
    if (OF_LINKS.test(name))
      checks.push({
        title: `one of two links is paid after ${name}, and the other is closed`,
        run: () => expectOneLink(shop, orders, name, make),
      });
    return checks;
  });
}

type Make = (order: NewOrder) => Promise<unknown>;

async function expectStillPaid(shop: Shop, name: string, make: Make): Promise<void> {
  const order = await shop.create();
  await expectCredit(shop, order);
  const before = (await shop.tryCredit(order)) ?? 0;
  await makeOrSkip(make, order);
  const found = await shop.find(order);
  if (found === undefined) throw lost(name, 'a paid');
  if (!paidOf(found))
    throw new Error(
      `After ${name}, find reports a paid order as unpaid. Give the payment a column of its` +
        ' own that no later change resets.',
    );
  // A count that is wrong anyway is the fault of another check.
  if (before === 0 && ((await shop.tryCredit(order)) ?? 0) !== 0)
    throw new Error(
      `After ${name}, a paid order was credited again. The condition must be on the column of` +
        " the payment, never on a status that changes, as status <> 'paid'.",
    );
}

function lost(name: string, which: string): Error {
  return new Error(
    `After ${name}, find no longer finds ${which} order by its reference, so that a payment which` +
      ' still arrives is lost. Keep the row of a removed order, with closed: true. Keep' +
      ' one row for each link: a reference that the next link overwrites is lost.',
  );
}

async function expectClosedOrPayable(
  shop: Shop,
  orders: Orders,
  name: string,
  make: Make,
): Promise<void> {
  const order = await shop.create();
  const listed = async (): Promise<boolean> =>
    (await readList(orders, 'unpaid', order.tenant)).references.includes(order.reference);
  const wasListed = orders.unpaid !== undefined && (await listed());
  await makeOrSkip(make, order);
  const found = await shop.find(order);
  if (found === undefined) throw lost(name, 'an unpaid');
  if (paidOf(found)) {
    if (OF_PAID_ORDERS.test(name)) throw new NotTested(`${name} marks an unpaid order as paid`);
    throw new Error(
      `After ${name}, find reports an unpaid order as paid. Look for a timestamp column with` +
        " ON UPDATE, and for status <> 'pending'.",
    );
  }
  if (found.closed === true) return expectClosed(shop, name, order);
  if (wasListed && !(await listed()))
    throw new Error(
      `After ${name}, find reports an unpaid order as open, and unpaid no longer lists it. Let` +
        ' find return closed: true for an order that takes no payment, or list it.',
    );
  const reply = await shop.credit(paymentOf(order, found)).then(printCount, messageOf);
  if (!(await shop.isPaid(order)))
    throw new Error(
      `After ${name}, find reports an unpaid order as open, and credit does not pay it (${reply}).` +
        ' Let find return closed: true, so that a payment which still arrives reaches a person.',
    );
}

/** A change may refuse an unpaid order by throwing. */
async function makeOrSkip(make: Make, order: NewOrder): Promise<void> {
  await make(order).catch((error: unknown) => {
    throw new NotTested(messageOf(error));
  });
}

/** The payment that Paylink credits after it has read the order again. */
function paymentOf(order: NewOrder, found: Order): NewOrder {
  const bounds = boundsOf(found.amount);
  const isWithin = bounds !== undefined && bounds.min <= order.amount && bounds.max >= order.amount;
  return {
    ...order,
    amount: isWithin ? order.amount : Number(bounds?.max ?? 0),
    currency: found.currency,
  };
}

async function expectClosed(shop: Shop, name: string, order: NewOrder): Promise<void> {
  const payment = paymentOf(order, (await shop.find(order))!);
  await shop.tryCredit(payment);
  await Promise.all(Array.from({ length: AT_ONCE }, () => shop.tryCredit(payment)));
  if (await shop.isPaid(order))
    throw new Error(
      `After ${name}, find returns closed: true, and credit pays the order all the same. A shop` +
        ' closes orders while Paylink asks the service, so the write must require an open order' +
        ' too, as AND cancelled_at IS NULL next to paid_at IS NULL.',
    );
}

/** Judges changes that close unpaid orders. Others may close an order that was paid before. */
async function expectOneOfTwo(shop: Shop, name: string, make: Make): Promise<void> {
  const [paid, unpaid] = [await shop.create(), await shop.create()];
  await shop.tryCredit(paid);
  await makeOrSkip(make, unpaid);
  await make(paid).catch(() => undefined);
  const closes = (await shop.find(unpaid))?.closed === true;
  const closesPaid = (await shop.find(paid))?.closed === true;
  if (!closes || closesPaid) throw new NotTested(`${name} does not close unpaid orders alone`);
  const orders: NewOrder[] = [];
  for (let count = 0; count < AT_ONCE; count++) orders.push(await shop.create());
  const both = orders.flatMap((order, index) => {
    const credit = () => shop.tryCredit(order);
    const close = () => make(order).catch(() => undefined);
    return index % 2 === 0 ? [credit, close] : [close, credit];
  });
  await Promise.all(both.map(async (run) => run()));
  for (const order of orders) {
    const found = await shop.find(order);
    if (found?.paid === true && found.closed === true)
      throw new Error(
        `An order is paid and closed after ${name} and its payment at once. Both must be one` +
          ' conditional write: the credit requires an open order, and closing an unpaid one.',
      );
  }
}

/** Pays the first link and then the second one, the other way around, and both at the same time. */
async function expectOneLink(shop: Shop, orders: Orders, name: string, make: Make): Promise<void> {
  const links = async (): Promise<readonly [NewOrder, NewOrder]> => {
    const first = await shop.create();
    const reference = await make(first);
    if (typeof reference !== 'string' || reference === first.reference)
      throw new NotTested(`later.${name} returns no reference of the new link`);
    return [first, { ...first, reference }];
  };
  for (const isTurned of [false, true]) {
    const two = await links();
    const [paid, other] = isTurned ? [two[1], two[0]] : two;
    if (orders.unpaid !== undefined) {
      const { references } = await readList(orders, 'unpaid', paid.tenant);
      if (references.includes(two[0].reference) && !references.includes(two[1].reference))
        throw new Error(
          `After ${name}, unpaid lists only the first link of an order. List every open link: the` +
            ' customer may pay any of them.',
        );
    }
    await expectCredit(shop, paid);
    await expectClosedLink(shop, name, other);
  }
  const two = await links();
  await shop.creditTogether(two);
  const found = await Promise.all(two.map((link) => shop.find(link)));
  if (found.filter((link) => link?.paid === true).length !== 1)
    throw new Error(
      `After ${name}, two payments of one order at once credit both links or none. One write must` +
        ' decide, such as a column of the order that names the link which was paid.',
    );
}

async function expectClosedLink(shop: Shop, name: string, other: NewOrder): Promise<void> {
  const found = await shop.find(other);
  if (found === undefined) throw lost(name, 'an unpaid');
  if (found.paid)
    throw new Error(
      `After ${name}, find reports both links of an order as paid, but only one was. A second` +
        ' payment would be acknowledged silently: paid belongs to one link, and the others are' +
        ' closed.',
    );
  await shop.tryCredit(other);
  if (found.closed !== true || (await shop.isPaid(other)))
    throw new Error(
      `After ${name}, a second link of a paid order can be paid too. Let find return closed: true` +
        ' for the other links of an order that is paid, and credit write none of them.',
    );
}
