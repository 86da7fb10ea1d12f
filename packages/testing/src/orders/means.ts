/** The checks that need options: a second connection, effects, a total. */
import { boundsOf, type NewOrder } from './order.js';
import { bounded, NotTested, paidOf, SOURCES, type Checks, type Shop } from './shop.js';

// Fake timers replace the globals later.
const { setImmediate } = globalThis;
const now = performance.now.bind(performance);
/** Milliseconds. Runners end a test after 5 s by default, and hosted databases are slow. */
const ROUNDS_END = 3_000;
const LOOKS = 10;

const ROUNDS = 5;

export const ELSEWHERE: Checks = {
  async 'a second connection sees a credit as soon as credit returns'(shop) {
    const order = await shop.create();
    await shop.credit(order);
    if (!(await isPaidElsewhere(shop, order)))
      throw new Error(
        'credit returned, but a second connection sees no credit. Look for a missing COMMIT' +
          ' or await, and do not read from a replica, here or in find.',
      );
  },
  async 'find shows no credit that is not committed'(shop) {
    const end = now() + ROUNDS_END;
    for (let round = 0; round === 0 || (round < 20 && now() < end); round++) {
      const order = await shop.create();
      // Opens the second connection, so that it answers at once during the credit.
      await isPaidElsewhere(shop, order);
      let isOver = false;
      const crediting = shop.credit(order).finally(() => (isOver = true));
      const look = async (): Promise<void> => {
        while (!isOver && !(await shop.isPaid(order)))
          await new Promise((resolve) => setImmediate(resolve));
        if (!isOver && !(await isPaidElsewhere(shop, order)))
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
};

export const EFFECTS: Checks = {
  async 'further writes happen once for each credit'(shop) {
    const raced: NewOrder[] = [];
    for (const source of SOURCES) {
      const order = await shop.create();
      await expectEffects(shop, order, 0, 'before the credit');
      await shop.credit(order, source);
      await expectEffects(shop, order, 1, `after a credit of the source '${source}'`);
      await shop.tryCredit(order, source);
      await expectEffects(shop, order, 1, 'after a second credit');
      raced.push(await shop.create());
    }
    await Promise.all(Array.from({ length: 20 }, (_, call) => shop.tryCredit(raced[call % 3]!)));
    await shop.creditTogether(raced);
    for (const order of raced) await expectEffects(shop, order, 1, 'after 20 simultaneous calls');
  },
  async 'a payment that credits nothing makes no further writes'(shop) {
    const order = await shop.create();
    const { amount, reference } = order;
    const isFree = typeof (await shop.find(order))?.amount === 'object';
    if (!isFree) await shop.tryCredit({ ...order, amount: amount + 1 });
    await shop.tryCredit({ ...order, currency: 'USD' });
    await shop.tryCredit({ ...order, amount: amount + 1, currency: 'USD' });
    await expectEffects(shop, order, 0, 'after a payment with another amount and currency');
    await shop.tryCredit({ ...order, reference: `${reference}z` });
    await expectEffects(shop, order, 0, 'after a payment with another reference');
  },
};

export const TOTAL: Checks = {
  async 'total moves by three payments if three orders are credited at once'(shop) {
    const order = await shop.create();
    const before = await readTotal(shop, order);
    const step = await stepOf(shop, order);
    if (!Number.isFinite(step) || step === 0)
      throw new Error(
        `total moves by ${step} for one credit. Let credit add to it (balance = balance +` +
          ' amount), never replace it, and let total return the number that each credit' +
          ' changes, such as the balance of the customer of every order that createOrder' +
          ' stores.',
      );
    await shop.tryCredit(order);
    await shop.tryCredit({ ...(await shop.create()), amount: order.amount + 1, currency: 'USD' });
    const expectMove = async (start: number, credits: number, when: string): Promise<void> => {
      const moved = (await readTotal(shop, order)) - start;
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
      const start = await readTotal(shop, order);
      await shop.creditTogether(three);
      await expectMove(start, 3, 'when three orders are credited at once');
    }
  },
  async 'a total of money moves by the amount that is paid'(shop) {
    const plain = await shop.create();
    const unit = plain.amount / Math.abs(await stepOf(shop, plain));
    if (unit !== 1 && unit !== 100) throw new NotTested('total moves by no amount of money');
    const order = await shop.create({ amount: 1_999 });
    const amount = (await shop.find(order))?.amount;
    const least = typeof amount === 'object' ? Number(boundsOf(amount)?.min) : order.amount;
    const payment = { ...order, amount: Math.max(1, least) };
    const step = await stepOf(shop, payment);
    if (Math.abs(Math.abs(step) * unit - payment.amount) > 1e-6)
      throw new Error(
        `total moves by ${step} for a payment of ${payment.amount}, and by ${plain.amount / unit}` +
          ` for one of ${plain.amount}. Add the amount of the payment.`,
      );
  },
};

async function isPaidElsewhere(shop: Shop, { reference, tenant }: NewOrder): Promise<boolean> {
  const { signal } = new AbortController();
  const find = async () => shop.options.elsewhere!(reference, { tenant, signal });
  return paidOf(await bounded('elsewhere', find));
}

async function expectEffects(
  { options }: Shop,
  { reference }: NewOrder,
  right: number,
  when: string,
): Promise<void> {
  const count = await bounded('effects', async () => options.effects!(reference));
  if (count !== right)
    throw new Error(
      `effects counts ${count} ${when}, but must count ${right}. Make further writes after the` +
        ' conditional write, in its transaction, and only if it changed a row.',
    );
}

async function readTotal({ options }: Shop, { reference }: NewOrder): Promise<number> {
  return Number(await bounded('total', async () => options.total!(reference)));
}

/** Returns the change of the total by a payment. */
async function stepOf(shop: Shop, payment: NewOrder): Promise<number> {
  const before = await readTotal(shop, payment);
  await shop.credit(payment);
  return (await readTotal(shop, payment)) - before;
}
