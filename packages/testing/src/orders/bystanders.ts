/** The checks that a payment pays only its own order. */
import { inspect } from 'node:util';
import { expectPaid, expectUnpaid } from './find.js';
import { printCount, type Checks, type Shop } from './shop.js';

export const BYSTANDERS: Checks = {
  async 'credit pays one order, and leaves others as they are'(shop) {
    await expectOneOrder(shop);
    const orders = [await shop.create(), await shop.create(), await shop.create()];
    await shop.creditTogether(orders);
    const asked = [...orders, ...[...orders].reverse()];
    const found = await Promise.all(asked.map(async (order) => shop.find(order)));
    if (asked.some(({ reference }, i) => found[i]?.reference !== reference || !found[i].paid))
      throw new Error(
        'Simultaneous calls for different orders mix them up. Look for a variable outside of' +
          ' find and credit, for a loader that returns rows in another order, and for a write of' +
          ' all orders.',
      );
  },
};

/** Expects that find and credit take one order, and leave paid and unpaid ones alone. */
export async function expectOneOrder(shop: Shop): Promise<void> {
  const paid = await shop.create();
  await shop.credit(paid);
  const bystanders = [paid, await shop.create()];
  const order = await shop.create();
  for (const other of [{ amount: order.amount + 1 }, { currency: 'XAF' }]) {
    const bystander = await shop.unstored(other);
    // A shop of one currency refuses the other.
    if ((await shop.refusal(bystander)) === undefined) bystanders.push(bystander);
  }
  const before = await Promise.all(bystanders.map((bystander) => shop.find(bystander)));
  expectUnpaid(await shop.find(order), order);
  const count = await shop.credit(order);
  for (const [index, bystander] of bystanders.entries()) {
    const found = await shop.find(bystander);
    const wasPaid = before[index]?.paid === true;
    if (inspect(found) === inspect(before[index])) continue;
    if (found?.paid === true && !wasPaid)
      throw new Error(
        `credit ${printCount(count)}, and paid another order too. Its conditions must all hold` +
          ' and name one order: join them with AND, and look for an undefined field in them.',
      );
    const change =
      found === undefined ? 'removed' : wasPaid && !found.paid ? 'made unpaid' : 'changed';
    throw new Error(`Another order was ${change}. credit must change only the paid order.`);
  }
  await expectPaid(shop, order, count);
}
