/** The checks of later changes: an order is shipped, refunded, edited, closed or linked again. */
import type { Order } from '@paylink/payments';
import { expectCredit } from './find.js';
import { readList } from './lists.js';
import { boundsOf, type NewOrder } from './order.js';
import { bounded, messageOf, NotTested, paidOf, printCount } from './shop.js';
import type { Checks, Shop } from './shop.js';

/** Changes that a shop makes only to paid orders, so that an unpaid order may count as paid. */
const OF_PAID_ORDERS =
  /ship|deliver|fulfil|refund|return|sent|send|complete|archive|dispute|invoice/i;
const OF_LINKS = /link|attempt|again/i;
const AT_ONCE = 20;

/** Makes one of the merchant's later changes to an order. */
type Make = (order: NewOrder) => Promise<unknown>;

export function laterChecks(name: string, change: (reference: string) => unknown): Checks {
  const make: Make = ({ reference }) => bounded(`later.${name}`, async () => change(reference));
  const checks: Checks = {
    [`a paid order stays paid after ${name}`]: (shop) => expectStillPaid(shop, name, make),
    [`an unpaid order is closed or can be paid after ${name}`]: (shop) =>
      expectClosedOrPayable(shop, name, make),
    [`no order is paid and closed if ${name} and its payment happen at once`]: (shop) =>
      expectOneOfTwo(shop, name, make),
  };
  if (!OF_LINKS.test(name)) return checks;
  const ofLinks = `one of two links is paid after ${name}, and the other is closed`;
  return { ...checks, [ofLinks]: (shop) => expectOneLink(shop, name, make) };
}

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

async function expectClosedOrPayable(shop: Shop, name: string, make: Make): Promise<void> {
  const order = await shop.create();
  const wasListed = await isUnpaidListed(shop, order);
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
  if (wasListed && !(await isUnpaidListed(shop, order)))
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

async function isUnpaidListed(shop: Shop, { reference, tenant }: NewOrder): Promise<boolean> {
  if (shop.options.orders.unpaid === undefined) return false;
  return (await readList(shop, 'unpaid', tenant)).references.includes(reference);
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
async function expectOneLink(shop: Shop, name: string, make: Make): Promise<void> {
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
    if ((await isUnpaidListed(shop, two[0])) && !(await isUnpaidListed(shop, two[1])))
      throw new Error(
        `After ${name}, unpaid lists only the first link of an order. List every open link: the` +
          ' customer may pay any of them.',
      );
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
