/** The checks that need options: a second connection, effects, a total. */
import type { Orders } from '@paylink/payments';
import { NotTested, type OrdersCheck } from './check.js';
import type { TestOrdersOptions } from './options.js';
import { boundsOf } from './order.js';
import type { NewOrder } from './order.js';
import { bounded, paidOf, SOURCES, type Shop } from './shop.js';

// Fake timers replace the globals later.
const { setImmediate } = globalThis;
const now = performance.now.bind(performance);
/** Milliseconds. Runners end a test after 5 s by default, and hosted databases are slow. */
const ROUNDS_END = 3_000;
const LOOKS = 10;

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
            'credit returned, but a second connection sees no credit. Look for a missing COMMIT' +
              ' or await, and do not read from a replica, here or in find.',
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
                'find sees the order as paid, but a second connection does not: it reads a' +
                  ' transaction that is not committed. Give find its own pool.',
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
        `effects counts ${count} ${when}, but must count ${right}. Make further writes after the` +
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
          await shop.tryCredit(order, source);
          await expectEffects(order, 1, 'after a second credit');
          raced.push(await shop.create());
        }
        await Promise.all(
          Array.from({ length: 20 }, (_, call) => shop.tryCredit(raced[call % 3]!)),
        );
        await shop.creditTogether(raced);
        for (const order of raced) await expectEffects(order, 1, 'after 20 simultaneous calls');
      },
    },
    {
      title: 'a payment that credits nothing makes no further writes',
      untested,
      async run() {
        const order = await shop.create();
        const { amount, reference } = order;
        const isFree = typeof (await shop.find(order))?.amount === 'object';
        if (!isFree) await shop.tryCredit({ ...order, amount: amount + 1 });
        await shop.tryCredit({ ...order, currency: 'USD' });
        await shop.tryCredit({ ...order, amount: amount + 1, currency: 'USD' });
        await expectEffects(order, 0, 'after a payment with another amount and currency');
        const unknown = { ...order, reference: `${reference}z` };
        await shop.tryCredit(unknown);
        await expectEffects(order, 0, 'after a payment with another reference');
      },
    },
    {
      title: 'further writes are in the transaction of the credit',
      untested: untested ?? 'no call from outside can end a credit halfway: read its code',
      run: () => Promise.resolve(),
    },
  ];
}

const ROUNDS = 5;

export function checkTotal(shop: Shop, total: TestOrdersOptions['total']): OrdersCheck[] {
  const untested = total === undefined ? 'needs the option total' : undefined;
  const read = async ({ reference }: NewOrder): Promise<number> =>
    Number(await bounded('total', async () => total!(reference)));
  const stepOf = async (order: NewOrder, payment: NewOrder): Promise<number> => {
    const before = await read(order);
    await shop.credit(payment);
    return (await read(order)) - before;
  };
  return [
    {
      title: 'total moves by three payments if three orders are credited at once',
      untested,
      async run() {
        const order = await shop.create();
        const before = await read(order);
        const step = await stepOf(order, order);
        if (!Number.isFinite(step) || step === 0)
          throw new Error(
            `total moves by ${step} for one credit. Let credit add to it (balance = balance +` +
              ' amount), never replace it, and let total return the number that each credit' +
              ' changes, such as the balance of the customer of every order that createOrder' +
              ' stores.',
          );
        await shop.tryCredit(order);
        await shop.tryCredit({
          ...(await shop.create()),
          amount: order.amount + 1,
          currency: 'USD',
        });
        const expectMove = async (start: number, credits: number, when: string): Promise<void> => {
          const moved = (await read(order)) - start;
          if (Math.abs(moved - credits * step) > 1e-6)
            throw new Error(
              `total moves by ${moved} ${when}, but must move by ${credits * step}. Let the` +
                ' database add (balance = balance + amount), never a read and then a write, and' +
                ' only if the conditional write changed a row.',
            );
        };
        await expectMove(before, 1, 'for one credit, a second one and a wrong payment');
        for (let round = 0; round < ROUNDS; round++) {
          const three = [await shop.create(), await shop.create(), await shop.create()];
          const start = await read(order);
          await shop.creditTogether(three);
          await expectMove(start, 3, 'when three orders are credited at once');
        }
      },
    },
    {
      title: 'a total of money moves by the amount that is paid',
      untested,
      async run() {
        const plain = await shop.create();
        const unit = plain.amount / Math.abs(await stepOf(plain, plain));
        if (unit !== 1 && unit !== 100) throw new NotTested('total moves by no amount of money');
        const order = await shop.create({ amount: 1_999 });
        const amount = (await shop.find(order))?.amount;
        const least = typeof amount === 'object' ? Number(boundsOf(amount)?.min) : order.amount;
        const payment = { ...order, amount: Math.max(1, least) };
        const step = await stepOf(order, payment);
        if (Math.abs(Math.abs(step) * unit - payment.amount) > 1e-6)
          throw new Error(
            `total moves by ${step} for a payment of ${payment.amount}, and by ${plain.amount / unit}` +
              ` for one of ${plain.amount}. Add the amount of the payment.`,
          );
      },
    },
  ];
}
