/** The checks that a payment pays its own order alone. */
import { inspect } from 'node:util';
import type { OrdersCheck } from './check.js';
import { printCount } from './count.js';
import { expectCredit, expectPaid } from './find.js';
import type { NewOrder, Shop } from './shop.js';

export function checkBystanders(shop: Shop): OrdersCheck[] {
  return [
    {
      title: 'credit leaves another order of the same amount unpaid',
      async run() {
        const bystander = await shop.create();
        const before = inspect(await shop.find(bystander));
        const order = await shop.create();
        const count = await shop.credit(order);
        if (await shop.isPaid(bystander))
          throw new Error(
            `credit ${printCount(count)}, and paid another order too. The condition does not name one` +
              ' order: look for an undefined field in it.',
          );
        if (inspect(await shop.find(bystander)) !== before)
          throw new Error('credit changed another order. It must change the paid order alone.');
        await expectPaid(shop, order, count);
        const orders = [await shop.create(), await shop.create(), await shop.create()];
        await shop.creditTogether(orders);
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
      title: 'credit leaves a paid order paid',
      async run() {
        const paid = await shop.create();
        await expectCredit(shop, paid);
        await expectCredit(shop, await shop.create());
        if (!(await shop.isPaid(paid)))
          throw new Error('credit made another order unpaid. It must change the paid order alone.');
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
                ' hold: join them by AND, and name one order.',
            );
        }
      },
    },
  ];
}
