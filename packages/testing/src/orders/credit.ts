/** The checks of `credit`: once, and only for the order's own payment. */
import { expectCredit } from './find.js';
import { boundsOf, type NewOrder } from './order.js';
import { isThrown, messageOf, NotTested, printCount, SOURCES } from './shop.js';
import type { Checks, Shop } from './shop.js';

const MAX_INT_32 = 2 ** 31 - 1;
/** Near the order's amount, equal in 32 bits or as a 32-bit float, and within a small tolerance. */
const OTHER_AMOUNTS = [
  { amount: 1_500, wrong: [1_501, 1_499, 150_000, 15, 1_500 + 2 ** 32] },
  { amount: 10_000_000, wrong: [10_000_001, 9_999_999] },
  { amount: 16_777_217, wrong: [16_777_216] },
];
const CALLS = 20;
/** Several, because in the first one the pool still opens its connections. */
const ROUNDS = 4;
/** Longer than the steps of a DATETIME: MySQL may count a row as unchanged within one second. */
const NEXT_SECOND = 1_100;

const COUNT =
  'Count only the rows of the conditional write: no constant, no later SELECT, no further writes.' +
  ' Make further writes only if it changed a row.';

// Fake timers replace it later.
const { setTimeout } = globalThis;

export const CREDIT: Checks = {
  async 'credit pays an order for the webhook, the return page and the schedule alike'(shop) {
    await expectCredit(shop, await shop.create());
    for (const source of SOURCES) {
      const order = await shop.create();
      const count = await shop.credit(order, source);
      if (count === 0 || !(await shop.isPaid(order)))
        throw new Error(
          `credit does not pay an order if the source is '${source}'. The webhook, the return` +
            ' page (settle) and the schedule (reconcile) all credit: only the row decides.',
        );
    }
  },
  'credit returns 0 for a reference that no order has': expectNoneForUnknown,
  async [`${CALLS} simultaneous calls credit an order once`](shop) {
    for (let round = 0; round < ROUNDS; round++) await race(shop, await shop.create());
  },
  async 'credit changes nothing if the order is already paid'(shop) {
    const order = await shop.create();
    await expectCredit(shop, order);
    const counts: (number | null | undefined)[] = [];
    for (const source of SOURCES) {
      if (source === 'settle') await new Promise((resolve) => setTimeout(resolve, NEXT_SECOND));
      counts.push(await shop.tryCredit(order, source));
    }
    if (!(await shop.isPaid(order))) throw new Error('A second credit made a paid order unpaid.');
    if (counts.includes(null)) throw countUnknown();
    const wrong = counts.find((count) => (count ?? 0) > 0);
    if (wrong !== undefined && (await countsWrites(shop)))
      throw new Error(
        `credit returned ${wrong} for an order that was already paid. The write must require` +
          ' an unpaid order, such as with AND paid_at IS NULL. If it does, the count comes from' +
          ' elsewhere: look for a later SELECT.',
      );
  },
  async 'credit counts only the rows of its own write'(shop) {
    if (!(await countsWrites(shop)))
      throw new Error(`credit returned a count for a payment that changed nothing. ${COUNT}`);
  },
  ...Object.fromEntries(
    OTHER_AMOUNTS.map(({ amount: right, wrong }) => [
      `credit accepts an amount other than ${right} only within the bounds of find`,
      async (shop: Shop) => {
        const order = await shop.create({ amount: right });
        const amount = (await shop.find(order))?.amount;
        if (typeof amount === 'object') return expectWithinBounds(shop, order, boundsOf(amount));
        await expectRefusals(shop, order, 'amount', wrong);
        await expectStillDue(shop, order, 'amount');
      },
    ]),
  ),
  async 'credit changes nothing for another currency'(shop) {
    const order = await shop.create();
    await expectRefusals(shop, order, 'currency', ['USD', 'XAF', 'EUR']);
    await expectStillDue(shop, order, 'currency');
  },
  'two orders cannot share a reference': expectOneRow,
};

async function expectNoneForUnknown(shop: Shop): Promise<void> {
  await shop.create();
  const unknown = await shop.unstored();
  const count = await shop.credit(unknown).catch((error: unknown) => {
    throw new Error(
      `For a reference that no order has, ${messageOf(error)}. credit must return 0 there.`,
    );
  });
  const made = await shop.find(unknown).catch(() => undefined);
  // A find that throws, or that finds any reference, is the fault of another check.
  if (made !== undefined && (await shop.find(await shop.unstored())) === undefined)
    throw new Error(
      'credit made an order for a reference that no order has. Let it update a stored order, and' +
        ' never insert or upsert one.',
    );
  if (count === null) throw countUnknown();
  if (count !== 0)
    throw new Error(
      `credit returned ${count} for a reference that no order has. Return the number of rows that` +
        ' the write changed, never a constant.',
    );
}

async function expectOneRow(shop: Shop): Promise<void> {
  const fault = new Error(
    'Two orders share a reference, and one payment paid both. Add a unique index on the' +
      ' reference, and make sure that no insert replaces a paid order.',
  );
  const paid = await shop.create();
  const first = await shop.credit(paid);
  if ((await shop.refusal(paid)) === undefined) {
    const second = (await shop.tryCredit(paid)) ?? 0;
    if (second > 0 && (await countsWrites(shop))) throw fault;
    if (!(await shop.isPaid(paid))) throw fault;
  }
  const twin = await shop.create();
  if ((await shop.refusal(twin)) !== undefined) return;
  if (Number(await shop.credit(twin)) > Number(first)) throw fault;
}

function countUnknown(): NotTested {
  return new NotTested('credit returns null instead of the number of rows');
}

async function race(shop: Shop, order: NewOrder): Promise<void> {
  const calls = Array.from({ length: CALLS }, (_, call) => shop.credit(order, SOURCES[call % 3]));
  const settled = await Promise.allSettled(calls);
  const failures = settled.flatMap((call) =>
    call.status === 'rejected' ? [call.reason as Error] : [],
  );
  const hanging = failures.find((error) => !isThrown(error));
  if (hanging !== undefined) throw hanging;
  const counts = settled.flatMap((call) => (call.status === 'fulfilled' ? [call.value] : []));
  const wrote = counts.filter((count) => Number(count) > 0).length;
  const isPaid = await shop.isPaid(order);
  if (failures.length > 0 && (!isPaid || (wrote === 0 && !counts.includes(null))))
    throw new Error(
      `${failures.length} of ${CALLS} simultaneous calls failed (${messageOf(failures[0])}), and` +
        ` ${isPaid ? 'the call that paid the order is one of them' : 'the order is unpaid'}.`,
    );
  if (!isPaid)
    throw new Error(`After ${CALLS} simultaneous calls, find reports the order as unpaid.`);
  if (wrote > 1 && (await countsWrites(shop)))
    throw new Error(
      `${wrote} of ${CALLS} simultaneous calls credited the same order. The write itself must` +
        ' require an unpaid order: between your read and your write, another call can write' +
        ' first. With Prisma, use updateMany, because update may read first. If the write already' +
        ' requires an unpaid order, check the count that credit returns.',
    );
  if (counts.includes(null)) throw countUnknown();
}

/**
 * Returns false if `credit` counts a payment of a different amount and currency that left its order
 * unpaid, or one for a paid order: such a condition cannot hold there either.
 */
async function countsWrites(shop: Shop): Promise<boolean> {
  const order = await shop.create();
  const wrong: NewOrder = { ...order, amount: order.amount + 1, currency: 'USD' };
  const before = await shop.tryCredit(wrong);
  if (await shop.isPaid(order)) return true;
  if ((before ?? 0) > 0) return false;
  await shop.tryCredit(order);
  return ((await shop.tryCredit(wrong)) ?? 0) === 0;
}

/** A free-amount link can be paid with any amount within its bounds. */
async function expectWithinBounds(
  shop: Shop,
  { amount: stored }: NewOrder,
  bounds: ReturnType<typeof boundsOf>,
): Promise<void> {
  const { min = 0n, max = 0n } = bounds ?? {};
  const upper = Number(max > MAX_INT_32 ? MAX_INT_32 : max);
  const lower = Math.max(1, Number(min));
  const amounts = [lower, Math.floor((lower + upper) / 2), upper];
  const others = amounts.filter((amount) => amount !== stored && amount >= lower);
  if (others.length === 0) throw new NotTested('the bounds of find contain only one amount');
  for (const amount of others) {
    const order = await shop.create({ amount: stored });
    await shop.tryCredit({ ...order, amount });
    if (!(await shop.isPaid(order)))
      throw new Error(
        `find returns bounds, and credit does not pay an order by ${amount}, another amount` +
          ' within them. Leave the amount out of the condition: Paylink has compared it' +
          ' with the bounds.',
      );
  }
}

/** Credits with payments that differ in one field, and expects that the order stays unpaid. */
export async function expectRefusals<Field extends 'amount' | 'currency' | 'tenant'>(
  shop: Shop,
  order: NewOrder,
  field: Field,
  values: readonly NewOrder[Field][],
): Promise<void> {
  for (const [index, value] of values.entries()) {
    const count = await shop.tryCredit({ ...order, [field]: value }, SOURCES[index % 3]);
    const call = `credit ${printCount(count)} for a payment of another ${field}`;
    if (await shop.isPaid(order))
      throw new Error(
        `${call}, and paid the order. Add the ${field} to the condition of the write.`,
      );
    if ((count ?? 0) > 0)
      throw new Error(`${call}, and the order stayed unpaid, as it should. ${COUNT}`);
  }
}

/** Credits an order for which payments were refused. */
export async function expectStillDue(shop: Shop, order: NewOrder, differed: string): Promise<void> {
  await shop.tryCredit(order);
  if (await shop.isPaid(order)) return;
  const other = await shop.create({ amount: order.amount });
  await shop.isPaid(other);
  await expectCredit(shop, other);
  throw new Error(
    `After a payment of another ${differed}, credit no longer pays the order by its own payment.` +
      ' Look for a mark of the payment, or a status such as processing, that is written before' +
      ' the whole condition holds.',
  );
}
