/** The checks of `credit`: once, and only for the order's own payment. */
import { NotTested, type OrdersCheck } from './check.js';
import { expectCredit } from './find.js';
import { boundsOf } from './order.js';
import { isThrown, messageOf, SOURCES, type NewOrder, type Shop, type Source } from './shop.js';

const MAX_INT_32 = 2 ** 31 - 1;
/** Near the order's amount, equal in 32 bits or as a 32-bit float, and within a small tolerance. */
const OTHER_AMOUNTS = [
  { amount: 1_500, wrong: [1_501, 1_499, 150_000, 1_500 + 2 ** 32] },
  { amount: 10_000_000, wrong: [10_000_001, 9_999_999] },
  { amount: 16_777_217, wrong: [16_777_216] },
];
const CALLS = 20;
/** Several, because in the first one the pool still opens its connections. */
const ROUNDS = 3;
/** Longer than the steps of a DATETIME: MySQL may count a row as unchanged within one second. */
const NEXT_SECOND = 1_100;

const { setTimeout } = globalThis;

export function checkCredit(shop: Shop): OrdersCheck[] {
  return [
    {
      title: 'credit pays an order for the webhook, the return page and the schedule alike',
      async run() {
        await expectCredit(shop, await shop.create());
        for (const source of SOURCES) {
          const order = await shop.create();
          const count = await shop.credit(order, source);
          if (count === 0 || !(await shop.isPaid(order)))
            throw new Error(
              `credit does not pay an order if the source is '${source}'. The webhook, the return` +
                ' page (settle) and the schedule (reconcile) all credit: the row alone decides.',
            );
        }
      },
    },
    {
      title: 'credit returns 0 for a reference that no order has',
      async run() {
        const { tenant, amount, currency } = await shop.create();
        const unknown = { reference: await shop.newReference(), amount, currency, tenant };
        const advice = 'Return the number of rows that the write changed, never a constant.';
        expectZero(await shop.credit(unknown), 'a reference that no order has', advice);
      },
    },
    {
      title: `${CALLS} simultaneous calls credit an order once`,
      async run() {
        for (let round = 0; round < ROUNDS; round++) await race(shop, await shop.create());
      },
    },
    {
      title: 'credit changes nothing if the order is already paid',
      async run() {
        const order = await shop.create();
        await expectCredit(shop, order);
        const counts: (number | null)[] = [];
        for (const source of SOURCES) {
          if (source === 'settle') await new Promise((resolve) => setTimeout(resolve, NEXT_SECOND));
          counts.push(await shop.credit(order, source));
        }
        if (!(await shop.isPaid(order)))
          throw new Error('A second credit made a paid order unpaid.');
        const advice = 'The write must require an unpaid order, as by AND paid_at IS NULL.';
        for (const count of counts) expectZero(count, 'an order that was already paid', advice);
      },
    },
    ...OTHER_AMOUNTS.map(({ amount: right, wrong }) => ({
      title: `credit changes nothing for another amount than ${right} (unless find gives bounds)`,
      async run() {
        const order = await shop.create({ amount: right });
        const bounds = boundsOf((await shop.find(order))?.amount);
        if (bounds !== undefined && bounds.min !== bounds.max)
          throw new NotTested('find gives bounds: any amount within them pays the order');
        for (const [index, amount] of wrong.entries())
          await expectRefusal(shop, order, { ...order, amount }, 'amount', SOURCES[index % 3]);
        await expectCredit(shop, order);
      },
    })),
    {
      title: 'credit changes nothing for another currency',
      async run() {
        const order = await shop.create();
        for (const [index, currency] of ['USD', 'XAF', 'EUR'].entries())
          await expectRefusal(shop, order, { ...order, currency }, 'currency', SOURCES[index]);
      },
    },
    {
      title: 'two orders cannot share a reference',
      async run() {
        const order = await shop.create();
        const first = await shop.credit(order);
        await shop.refusal(order);
        if (Number(first) + Number(await shop.credit(order)) > 1)
          throw new Error(
            'Two orders share a reference, and one payment paid both. Add a unique index on the' +
              ' reference, and let no insert replace a paid order.',
          );
      },
    },
  ];
}

function expectZero(count: number | null, payment = '', advice = ''): void {
  if (count === null) throw new NotTested('credit returns null instead of the number of rows');
  if (count !== 0) throw new Error(`credit returned ${count} for ${payment}. ${advice}`);
}

async function race(shop: Shop, order: NewOrder): Promise<void> {
  const calls = Array.from({ length: CALLS }, (_, call) => shop.credit(order, SOURCES[call % 3]));
  const settled = await Promise.allSettled(calls);
  const counts = settled.map((call) => (call.status === 'fulfilled' ? call.value : undefined));
  const wrote = counts.filter((count) => count !== undefined && Number(count) > 0).length;
  if (wrote > 1)
    throw new Error(
      `${wrote} of ${CALLS} simultaneous calls credited the same order. The write itself must` +
        ' require an unpaid order: after a read, another call writes first. With Prisma use' +
        ' updateMany, because update may read first.',
    );
  const failed = settled.filter((call) => call.status === 'rejected');
  if (failed.length > 0)
    throw new Error(
      `${failed.length} of ${CALLS} simultaneous calls failed (${messageOf(failed[0]!.reason)}).` +
        ' A call that comes second must return 0.',
    );
  if (!(await shop.isPaid(order)))
    throw new Error(`After ${CALLS} simultaneous calls, find says that the order is unpaid.`);
  if (counts.includes(null)) expectZero(null);
}

/** Credits with a wrong payment, and expects that the order stays unpaid. */
export async function expectRefusal(
  shop: Shop,
  order: NewOrder,
  payment: NewOrder,
  differs: string,
  source?: Source,
): Promise<void> {
  // An integer column refuses a larger number, and an enumeration another currency.
  const mayThrow = payment.amount > MAX_INT_32 || differs === 'currency';
  const count = await shop.credit(payment, source).catch((error: unknown) => {
    if (mayThrow && isThrown(error)) return 0;
    throw error;
  });
  if ((count !== 0 && count !== null) || (await shop.isPaid(order)))
    throw new Error(
      `credit returned ${count} for a payment of another ${differs}, which must change nothing. Add` +
        ` the ${differs} to the condition of the write.`,
    );
}
