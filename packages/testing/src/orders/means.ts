/** The checks that need options: tenants, a second connection, effects, later changes. */
import type { Orders } from '@paylink/payments';
import { NotTested, type OrdersCheck } from './check.js';
import { expectRefusal } from './credit.js';
import { expectCredit } from './find.js';
import type { TestOrdersOptions } from './options.js';
import { bounded, messageOf, paidOf, SOURCES, type NewOrder, type Shop } from './shop.js';

// Fake timers replace the globals later.
const { setImmediate } = globalThis;
const now = performance.now.bind(performance);
/** Milliseconds. A runner ends a test after 5 s, and hosted databases are slow. */
const ROUNDS_END = 3_000;
const LOOKS = 10;

export function checkTenants(
  shop: Shop,
  tenants: readonly [string, string] | undefined,
): OrdersCheck[] {
  const other = tenants?.[1] ?? null;
  return [
    {
      title: 'another tenant neither finds nor credits an order',
      untested: tenants === undefined ? 'needs the option tenants' : undefined,
      async run() {
        const order = await shop.create();
        for (const tenant of [other, null])
          if ((await shop.find({ ...order, tenant }).catch(() => undefined)) !== undefined)
            throw new Error(
              'find gives an order to another tenant, or to null. Add the tenant to its condition.',
            );
        for (const source of SOURCES)
          await expectRefusal(shop, order, { ...order, tenant: other }, 'tenant', source);
        const twin = { ...order, tenant: other };
        const isStored = (await shop.refusal(twin)) === undefined;
        await expectCredit(shop, order);
        if (isStored && (await shop.find(twin))?.paid !== false)
          throw new Error(
            "Another tenant's order of the same reference is also paid, or is not found. Add the" +
              ' tenant to the conditions of the read and of the write.',
          );
      },
    },
  ];
}

export function checkElsewhere(shop: Shop, elsewhere: Orders['find'] | undefined): OrdersCheck[] {
  const untested = elsewhere === undefined ? 'needs the option elsewhere' : undefined;
  const { signal } = new AbortController();
  const isPaidElsewhere = async ({ reference, tenant }: NewOrder): Promise<boolean> =>
    paidOf(await bounded('elsewhere', async () => elsewhere!(reference, { tenant, signal })));
  return [
    {
      title: 'a second connection sees a credit as soon as credit returns',
      untested,
      async run() {
        const order = await shop.create();
        await shop.credit(order);
        if (!(await isPaidElsewhere(order)))
          throw new Error(
            'credit returned, and a second connection says unpaid. Look for a missing COMMIT or' +
              ' await, and read neither here nor in find from a replica.',
          );
      },
    },
    {
      title: 'find shows no credit that is not committed',
      untested,
      async run() {
        const end = now() + ROUNDS_END;
        for (let round = 0; round === 0 || (round < 20 && now() < end); round++) {
          const order = await shop.create();
          // Opens the second connection, so that it answers at once during the credit.
          await isPaidElsewhere(order);
          let isOver = false;
          const crediting = shop.credit(order).finally(() => (isOver = true));
          const look = async (): Promise<void> => {
            while (!isOver && !(await shop.isPaid(order)))
              await new Promise((resolve) => setImmediate(resolve));
            if (!isOver && !(await isPaidElsewhere(order)))
              throw new Error(
                'find says paid, and a second connection says unpaid: find sees a transaction that' +
                  ' is not committed. Let find read on a pool of its own.',
              );
          };
          // On the credit's own connection, its COMMIT waits in line behind these.
          const looks = Array.from({ length: LOOKS }, look);
          const results = await Promise.allSettled([...looks, crediting]);
          for (const result of results) if (result.status === 'rejected') throw result.reason;
        }
      },
    },
  ];
}

export function checkEffects(shop: Shop, effects: TestOrdersOptions['effects']): OrdersCheck[] {
  const untested = effects === undefined ? 'needs the option effects' : undefined;
  const expectEffects = async (order: NewOrder, right: number, when: string): Promise<void> => {
    const count = await bounded('effects', async () => effects!(order.reference));
    if (count !== right)
      throw new Error(
        `effects counts ${count} ${when}, and must count ${right}. Make further writes after the` +
          ' conditional write, in its transaction, and only if it changed a row.',
      );
  };
  return [
    {
      title: 'further writes happen once for each credit',
      untested,
      async run() {
        const raced: NewOrder[] = [];
        for (const source of SOURCES) {
          const order = await shop.create();
          await expectEffects(order, 0, 'before the credit');
          await shop.credit(order, source);
          await expectEffects(order, 1, `after a credit of the source '${source}'`);
          await shop.credit(order, source);
          await expectEffects(order, 1, 'after a second credit');
          raced.push(await shop.create());
        }
        const calls = Array.from({ length: 20 }, (_, call) => shop.credit(raced[call % 3]!));
        await Promise.allSettled(calls);
        for (const order of raced) await expectEffects(order, 1, 'after 20 simultaneous calls');
      },
    },
    {
      title: 'a payment of another amount or currency makes no further writes',
      untested,
      async run() {
        const order = await shop.create();
        const wrong = { ...order, amount: order.amount + 1, currency: 'USD' };
        await shop.credit(wrong).catch(() => undefined);
        await expectEffects(order, 0, 'after a payment of another amount and currency');
      },
    },
    {
      title: 'further writes are in the transaction of the credit',
      untested: untested ?? 'no call from outside can end a credit halfway: read its code',
      run: () => Promise.resolve(),
    },
  ];
}

export function checkLater(shop: Shop, later: TestOrdersOptions['later']): OrdersCheck[] {
  if (later === undefined || Object.keys(later).length === 0) {
    const title = 'a paid order stays paid after later changes';
    return [{ title, untested: 'needs the option later', run: () => Promise.resolve() }];
  }
  return Object.entries(later).map(([name, change]) => ({
    title: `a paid order stays paid after ${name}`,
    async run() {
      const order = await shop.create();
      await expectCredit(shop, order);
      await bounded(`later.${name}`, async () => change(order.reference));
      if (!(await shop.isPaid(order)))
        throw new Error(
          `After ${name}, find says that a paid order is unpaid. Give the payment a column of its` +
            ' own that no later change resets.',
        );
      if (Number(await shop.credit(order)) !== 0)
        throw new Error(
          `After ${name}, a paid order was credited again. The condition must be on the column of` +
            " the payment, never on a status that changes, as status <> 'paid'.",
        );
      if (!/^(edit|expire|cancel)/.test(name)) return;
      const unpaid = await shop.create();
      await bounded(name, async () => change(unpaid.reference)).catch((error: unknown) => {
        throw new NotTested(messageOf(error));
      });
      if ((await shop.find(unpaid))?.paid === true)
        throw new Error(
          `After ${name}, find says that an unpaid order is paid. Look for a timestamp column with` +
            " ON UPDATE, and for status <> 'pending'.",
        );
    },
  }));
}
