/** Broken `orders` in memory: each is caught by the sentence that names its fault. */
import type { Order } from '@paylink/payments';
import { expect, it, vi } from 'vitest';
import { faultsOf, testFaults, type Designs, type Make } from './faults.js';
import {
  addOnce,
  attempts,
  byReference,
  byStatus,
  crediting,
  dueFor,
  finding,
  free,
  isOf,
  payingIf,
  TENANTS,
  toOrder,
  wallet,
  withCredit,
  withFind,
  withTenants,
  type Credit,
  type Payment,
  type Row,
  type Shop,
} from './shop.js';

vi.spyOn(console, 'warn').mockReturnValue(undefined);

/** A find that returns its argument with the order of a similar reference. */
const echoing = (isSame: (stored: string, asked: string) => boolean): Make =>
  withFind((shop) => async (reference) => {
    const order = toOrder(await shop.select((row) => isSame(row.reference, reference)));
    return order && { ...order, reference };
  });
const echoingAs = (change: (reference: string) => string): Make =>
  echoing((stored, asked) => stored === change(asked));
const ECHOED = (which: string): RegExp =>
  new RegExp(`^find returns an order for a reference .*${which}.*, under that reference`);

const FOREIGN = /^find returns an order to another tenant, or to null/;
const CACHED =
  /^find was called before the credit or meanwhile, and still returns an unpaid order after it/;
const UNPAID_AFTER_CREDIT = /^unpaid lists an order (that is not unpaid|after its credit)/;
const NO_ROW = /^credit changed no row for an unpaid order/;
const OF_AMOUNT = /^credit returned 1 for a payment of another amount, and paid the order/;
const OF_CURRENCY = /^credit returned 1 for a payment of another currency, and paid the order/;
const OF_TENANT = /^credit returned 1 for a payment of another tenant, and paid the order/;

const isUnpaid = (row: Row): boolean => !row.isPaid;
const closedIgnored = (row: Row, payment: Payment): boolean => isOf(payment)(row) && !row.isPaid;

const listing =
  (list: (shop: Shop) => unknown, tenants?: typeof TENANTS): Make =>
  (shop) =>
    shop.options({ unpaid: () => list(shop) as string[] }, { tenants });
const limited = (limit: number): Make => listing((shop) => shop.list(isUnpaid).slice(0, limit));
const LIMIT = /^unpaid lists \d+ orders, and not the newest.*LIMIT/;

const madeUp = (reference: string, paid = false): Order => ({
  ...{ reference, amount: 1, currency: 'XOF' },
  paid,
});
const failingRead = (
  isRefused: (reference: unknown) => boolean,
  answer: (reference: string) => Order,
): Make =>
  withFind((shop) => async (reference) => {
    try {
      if (isRefused(reference)) throw new Error('the driver refuses this');
      return toOrder(await shop.select(byReference(reference)));
    } catch {
      return answer(reference);
    }
  });

const elsewhereWriting = withCredit(() => () => 0);

/** A createOrder that stores another order than the suite's. */
const storing =
  (change: (order: Stored) => Stored): Make =>
  (shop) =>
    shop.options({}, { createOrder: (order) => shop.insert(change(order)) });
type Stored = Parameters<Shop['insert']>[0];

/** A condition with the reference between quotes. */
function inQuotes(reference: string): (row: Row) => boolean {
  const [text, ...rest] = reference.split("'");
  if (rest.length % 2 === 1 && !rest[0]!.includes('--')) throw new Error('unterminated string');
  return (row) => row.reference === text || rest.includes('=');
}
const findingInQuotes = withFind(
  (shop) => async (reference) => toOrder(await shop.select(inQuotes(reference))),
);

/** Right orders, of which a second connection sees those that are committed. */
const elsewhere =
  (isCommitted: (reference: string) => boolean, credit?: (shop: Shop) => Credit): Make =>
  (shop) => {
    const { orders } = shop.options();
    const options = shop.options(credit && { credit: credit(shop) });
    return {
      ...options,
      async elsewhere(reference, context) {
        const order = await orders.find(reference, context);
        return order && { ...order, paid: order.paid && isCommitted(reference) };
      },
    };
  };
const committed = new Set<string>();

/** A find that closes the other links of a paid order. */
function closingOthers(shop: Shop, orderOf: (reference: string) => string) {
  const isClosed = (reference: string): boolean =>
    shop.rows.some(
      (row) =>
        row.isPaid && row.reference !== reference && orderOf(row.reference) === orderOf(reference),
    );
  return {
    isClosed,
    async find(reference: string) {
      const order = toOrder(await shop.select(byReference(reference)));
      return order && { ...order, closed: !order.paid && isClosed(reference) };
    },
  };
}

/** Right orders behind a cache. */
const cached =
  (clears: 'before' | 'after', tenants?: typeof TENANTS): Make =>
  (shop) => {
    const cache = new Map<string, Order>();
    const { find, credit } = shop.options().orders;
    return shop.options(
      {
        async find(reference, context) {
          const order = cache.get(reference) ?? (await find(reference, context));
          if (order) cache.set(reference, order);
          return order;
        },
        async credit(payment, context) {
          if (clears === 'before') cache.delete(payment.reference);
          await shop.select(() => false);
          const count = await credit(payment, context);
          if (clears === 'after') cache.delete(payment.reference);
          return count;
        },
      },
      { tenants },
    );
  };

/** A shop whose find and credit begin with a turn in which another call can come. */
const withVariable: Make = (shop) => {
  let current: string | null = null;
  const { find, credit } = shop.options().orders;
  const enter = async (tenant: string | null): Promise<{ tenant: string | null }> => {
    current = tenant;
    await shop.select(() => false);
    return { tenant: current };
  };
  return shop.options(
    {
      find: async (it, context) => find(it, { ...context, ...(await enter(context.tenant)) }),
      credit: async (it, context) => credit(it, { ...context, ...(await enter(context.tenant)) }),
    },
    { tenants: TENANTS },
  );
};

const PENDING = (status: string): boolean => status === 'pending';
const payAll = crediting((shop, count) => (count === 0 ? 0 : shop.pay(isUnpaid)));
const rolledBack = withCredit((shop) => async (payment) => shop.list(dueFor(payment)).length);
const findingUnpaid = withFind(
  (shop) => async (reference) =>
    toOrder(await shop.select((row) => row.reference === reference && !row.isPaid)),
);

const broken: Designs = {
  'bounds and a condition on the amount': [
    free((row, amount) => row.amount === amount),
    /^find returns bounds, and credit does not pay an order by \d+, another amount within them/,
  ],
  'bounds and a condition on the least amount of the shop': [
    free((row, amount) => amount >= row.amount),
    /^find returns bounds, and credit does not pay an order by 1,/,
  ],
  'a status column without `closed`': [
    byStatus(['paid', 'shipped'], PENDING, { cancel: ['cancelled'] }),
    /^After cancel, find reports an unpaid order as open, and unpaid no longer lists it/,
  ],
  'a status column without `closed` and without lists': [
    (shop) => {
      const options = byStatus(['paid'], PENDING, { fail: ['failed'] })(shop);
      const { find, credit } = options.orders;
      return { ...options, orders: { find, credit } };
    },
    /^After fail, find reports an unpaid order as open, and credit does not pay it.*closed: true/,
  ],
  'an expired order that counts as paid': [
    byStatus(['paid', 'expired'], PENDING, { expire: ['expired'] }),
    /^After expire, find reports an unpaid order as paid/,
  ],
  "`status <> 'paid'`, which a shipped order fulfils": [
    byStatus(['paid', 'shipped'], (status) => status !== 'paid', { ship: ['shipped'] }),
    /^After ship, a paid order was credited again/,
  ],
  "`paid: status === 'paid'`, which a shipped order is not": [
    byStatus(['paid'], PENDING, { ship: ['shipped'] }),
    /^After ship, find reports a paid order as unpaid/,
  ],
  'a refund that resets the payment': [
    (shop) => shop.options({}, shop.later('refund', { isPaid: false })),
    /^After refund, find reports a paid order as unpaid/,
  ],
  'a wallet that is read and then written': [
    wallet(async (shop, { amount }, count) => {
      if (count === 0) return;
      const before = shop.balance;
      await shop.select(() => false);
      shop.balance = before + amount;
    }),
    /^total moves by \d+ when three orders are credited at once.*balance = balance \+ amount/,
  ],
  'a wallet that is set to the amount': [
    wallet((shop, { amount }, count) => count === 1 && (shop.balance = amount)),
    /^total moves by 0 for one credit. Let credit add to it.*never replace it/,
  ],
  'a wallet that gets the same sum for every payment': [
    wallet((shop, _, count) => (shop.balance += 1_500 * count)),
    /^total moves by 1500 for a payment of 1999.*Add the amount of the payment/,
  ],
  'a wallet that gets the amount of the order for a payment within bounds': [
    (shop) => {
      const { orders, ...options } = free(() => true)(shop);
      const credit: typeof orders.credit = async (payment, context) => {
        const count = await orders.credit(payment, context);
        const { amount } = shop.rows.find(byReference(payment.reference)) ?? { amount: 0 };
        if (count === 1) shop.balance += amount;
        return count;
      };
      return { ...options, orders: { ...orders, credit }, total: () => shop.balance };
    },
    /^total moves by 1999 for a payment of 1,.*Add the amount of the payment/,
  ],
  'a wallet that a second credit moves too': [
    wallet((shop, { reference, amount }) => {
      if (shop.rows.find(byReference(reference))?.isPaid) shop.balance += amount;
    }),
    /^total moves by \d+ for one credit, a second one and a wrong payment/,
  ],
  'a total that no credit moves': [wallet(() => undefined), /^total moves by 0 for one credit/],
  'a receipt for every call': [
    wallet((shop, payment) => addOnce(shop, payment, 1)),
    /^effects counts 2 after a second credit/,
  ],
  'a receipt for every payment that finds its order unpaid': [
    wallet((shop, payment, count) => {
      const { isPaid } = shop.rows.find(byReference(payment.reference)) ?? {};
      addOnce(shop, payment, isPaid === false ? 1 : count);
    }),
    /^effects counts \d after a payment with another amount and currency/,
  ],
  'a receipt for the webhook alone': [
    (shop) => {
      const { orders, ...options } = wallet(() => undefined)(shop);
      const credit: typeof orders.credit = async (payment, context) => {
        const count = await orders.credit(payment, context);
        if (context.source === 'webhook') addOnce(shop, payment, Number(count));
        return count;
      };
      return { ...options, orders: { ...orders, credit } };
    },
    /^effects counts 0 after a credit of the source 'settle'/,
  ],
  'a receipt for each new order': [
    (shop) => ({ ...wallet()(shop), effects: () => 1 }),
    /^effects counts 1 before the credit/,
  ],
  'a receipt that is looked for, and then written': [
    wallet(async (shop, { reference }) => {
      const { isPaid } = shop.rows.find(byReference(reference)) ?? {};
      if (isPaid !== true || shop.receipts.includes(reference)) return;
      await shop.select(() => false);
      shop.receipts.push(reference);
    }),
    /^effects counts \d+ after 20 simultaneous calls/,
  ],
  'a credit that a second connection does not see': [
    elsewhere(() => false),
    /^credit returned, but a second connection sees no credit.*COMMIT/,
  ],
  'a find within the transaction of the credit': [
    elsewhere(
      (reference) => committed.has(reference),
      (shop) => async (payment) => {
        const count = await shop.pay(dueFor(payment));
        for (let turns = 0; turns < 9; turns++) await shop.select(() => false);
        committed.add(payment.reference);
        return count;
      },
    ),
    /^find sees the order as paid, but a second connection does not/,
  ],
  'a find with the reference in its text': [
    findingInQuotes,
    /^With a quote in the reference, find threw: unterminated string.*pass it as a parameter/,
  ],
  'a find with the reference in its text, whose end a comment hides': [
    findingInQuotes,
    /^find returns an order for a reference that ends in a comment in SQL/,
  ],
  'a credit with the reference in its text': [
    withCredit((shop) => async ({ reference, ...payment }) => {
      const isNamed = inQuotes(reference);
      return shop.pay(
        (row) => isNamed(row) && dueFor({ ...payment, reference: row.reference })(row),
      );
    }),
    /^credit pays an order for a reference that ends in a comment in SQL/,
  ],
  'a column of 32-bit floats': [
    storing((order) => ({ ...order, amount: Math.fround(order.amount) })),
    /^createOrder stored the amount 16777217, but find returns 16777216/,
  ],
  'a column of 32-bit integers': [
    storing((order) => ({ ...order, amount: Math.min(order.amount, 2 ** 31 - 1) })),
    /^createOrder stored the amount 2147483648, but find returns 2147483647/,
  ],
  'a find that gives another spelling': [
    finding((order) => ({ ...order, reference: order.reference.toUpperCase() })),
    /^find returns the reference '\S+' for '\S+'. Return the reference as the database stores it/,
  ],
  'a `closed` of orders that wait for their payment': [
    finding((order) => ({ ...order, closed: !order.paid })),
    /^A new order must be open/,
  ],
  'a `paid` that lists nothing': [
    (shop) => shop.options({ paid: () => [] }),
    /^paid lists 0 orders, and not the newest/,
  ],
  'a second credit that takes the first one back': [
    withCredit((shop) => async (payment) => {
      const count = await shop.pay(dueFor(payment));
      if (count === 0) await shop.update(isOf(payment), { isPaid: false });
      return count;
    }),
    /^A second credit made a paid order unpaid/,
  ],
  'calls at once that all fail': [
    withCredit((shop) => {
      let calls = 0;
      return async (payment) => {
        calls++;
        await shop.select(() => false);
        const isAlone = calls === 1;
        await shop.select(() => false);
        calls--;
        if (!isAlone) throw new Error('deadlock');
        return shop.pay(dueFor(payment));
      };
    }),
    /^20 of 20 simultaneous calls failed \(credit threw: deadlock\), and the order is unpaid/,
  ],
  'calls at once of which all but one hang': [
    withCredit((shop) => {
      const taken = new Set<string>();
      return (payment) => {
        if (taken.has(payment.reference)) return new Promise<never>(() => undefined);
        taken.add(payment.reference);
        return shop.pay(dueFor(payment)).finally(() => taken.delete(payment.reference));
      };
    }),
    /^credit did not settle within 10 s/,
  ],
  'an amount of the payment in the larger unit': [
    payingIf(
      (row, payment) =>
        [1, 100].includes(payment.amount / row.amount) &&
        dueFor({ ...payment, amount: row.amount })(row),
    ),
    OF_AMOUNT,
  ],
  'LIMIT 20': [limited(20), LIMIT],
  'LIMIT 25': [limited(25), LIMIT],
  'LIMIT 50': [limited(50), LIMIT],
  'LIMIT 100': [limited(100), LIMIT],
  'LIMIT 100, the newest first': [
    listing((shop) => shop.list(isUnpaid).reverse().slice(0, 100)),
    /^unpaid no longer lists an unpaid order after later ones/,
  ],
  'an `unpaid` with the newest first': [
    listing((shop) => shop.list(isUnpaid).reverse()),
    /^unpaid no longer lists .*or lists it behind them/,
  ],
  'an `unpaid` that lists numbers of rows': [
    listing(({ rows }) => rows.flatMap((row, index) => (row.isPaid ? [] : [`${index}`]))),
    /^unpaid lists '\d+', but find returns no order with that reference/,
  ],
  'an `unpaid` with the padding of a CHAR column, which find ignores': [
    (shop) =>
      shop.options({
        find: async (reference) => toOrder(await shop.select(byReference(reference.trimEnd()))),
        unpaid: () => shop.list(isUnpaid).map((reference) => `${reference} `),
      }),
    /^unpaid lists '.* ', but find returns no order with that reference.*as the database stores/,
  ],
  'an `unpaid` in pages that start after a time': [
    listing((shop) => {
      const [first, ...others] = shop.list(isUnpaid);
      return first === undefined ? [] : [first, ...others.slice(-10)];
    }),
    /^unpaid no longer lists .*page that starts after a time/,
  ],
  'an `unpaid` of one tenant': [
    listing((shop) => shop.list((row) => !row.isPaid && row.tenant === TENANTS[0]), TENANTS),
    /^unpaid lists '.*', but find returns no order with that reference.*only those of the tenant/,
  ],
  'an `unpaid` without the tenant': [
    listing((shop) => shop.list(isUnpaid), TENANTS),
    /^unpaid lists another tenant's order/,
  ],
  'an `unpaid` that lists the paid orders': [
    listing((shop) => shop.list((row) => row.isPaid)),
    UNPAID_AFTER_CREDIT,
  ],
  'an `unpaid` that streams all orders': [
    listing(async function* (shop) {
      yield* shop.list(() => true);
    }),
    UNPAID_AFTER_CREDIT,
  ],
  'an `unpaid` that gives one stream for all calls': [
    (shop) => {
      const stream = (async function* () {
        yield* shop.list(isUnpaid);
      })();
      return listing(() => stream)(shop);
    },
    /^unpaid does not list a new order at the second call.*a new query or stream/,
  ],
  'an `unpaid` that lists rows': [
    listing(({ rows }) => rows.map(({ reference }) => ({ reference }))),
    /^unpaid threw: it lists .* but must list references as text/,
  ],
  "an `unpaid` that gives the driver's result": [
    listing(({ rows }) => ({ rows, rowCount: rows.length })),
    /^unpaid threw: it returned .* but must return an array or a stream/,
  ],
  'a `paid` that lists unpaid orders too': [
    (shop) => shop.options({ paid: () => shop.list(() => true) }),
    /^paid lists a new unpaid order/,
  ],
  'a tenant in a variable of the module': [
    withVariable,
    /^Simultaneous calls for two tenants mix them up.*variable/,
  ],
  'an unknown tenant that means the second one': [
    withTenants((stored, asked) => stored === (asked === TENANTS[0] ? asked : TENANTS[1])),
    FOREIGN,
  ],
  'tenants by LIKE': [
    withTenants((stored, asked) => stored === asked || (asked === '%' && stored !== null)),
    FOREIGN,
  ],
  'a cache whose key leaves the tenant out': [
    cached('after', TENANTS),
    /^find returns an order to another tenant, or to null: one of 'shop-a' to 'shop-b'/,
  ],
  '`tenant = $1 OR tenant IS NULL`': [
    withTenants((stored, asked) => stored === asked || stored === null),
    FOREIGN,
  ],
  'a null that means every tenant': [
    withTenants((stored, asked) => stored === asked || asked === null),
    FOREIGN,
  ],
  'a find without the tenant': [withTenants(() => true), FOREIGN],
  'tenants without case': [
    withTenants((stored, asked) => stored?.toLowerCase() === asked?.toLowerCase()),
    FOREIGN,
  ],
  'tenants that are cut': [
    withTenants((stored, asked) => stored?.slice(0, 10) === asked?.slice(0, 10)),
    FOREIGN,
  ],
  'tenants by their beginning': [
    withTenants((stored, asked) => asked !== null && stored?.startsWith(asked) === true),
    FOREIGN,
  ],
  'a write that pays the orders of every tenant with the number': [
    withCredit(
      (shop) =>
        async (payment, { tenant }) => {
          const isDue = (await shop.select(dueFor(payment, tenant))) !== undefined;
          return isDue ? shop.pay((row) => dueFor(payment, row.tenant)(row)) : 0;
        },
      { tenants: TENANTS },
    ),
    /^Another tenant's order of the same reference is also paid/,
  ],
  'a write without the tenant': [
    payingIf((row, payment) => dueFor(payment, row.tenant)(row), { tenants: TENANTS }),
    OF_TENANT,
  ],
  'a write without the tenant for null': [
    payingIf(
      (row, payment, { tenant }) =>
        dueFor(payment, row.tenant)(row) && (tenant === null || row.tenant === tenant),
      { tenants: TENANTS },
    ),
    OF_TENANT,
  ],
  'a write without the tenant from the schedule': [
    payingIf(
      (row, payment, { source, tenant }) =>
        dueFor(payment, source === 'reconcile' ? row.tenant : tenant)(row),
      { tenants: TENANTS },
    ),
    OF_TENANT,
  ],
  'a find that strips a prefix': [
    echoingAs((it) => it.replace(/^ORD-/i, '')),
    ECHOED('prefix|ORD-'),
  ],
  'a find that strips every prefix': [echoingAs((it) => it.replace(/^[a-z]+_/, '')), ECHOED('_')],
  'a find that strips an attempt': [echoingAs((it) => it.replace(/[#:].*$/, '')), ECHOED('2')],
  'a find that strips hyphens': [
    echoing((stored, asked) => stored.replaceAll('-', '') === asked.replaceAll('-', '')),
    ECHOED('without hyphens'),
  ],
  'a find that decodes': [echoingAs(decodeURIComponent), ECHOED('percent-encoded')],
  'a find that makes NFC': [
    echoingAs((it) => it.normalize('NFC')),
    ECHOED('with a decomposed accent'),
  ],
  'a find that makes NFD': [
    echoingAs((it) => it.normalize('NFD')),
    ECHOED('with a composed accent'),
  ],
  'a find that trims': [echoingAs((it) => it.trim()), ECHOED('blank')],
  'a find that lowers the case': [echoingAs((it) => it.toLowerCase()), ECHOED('in another case')],
  'a find by a beginning': [echoing((stored, asked) => stored.startsWith(asked)), ECHOED('cut')],
  'a column without case': [
    (shop) => {
      const lower = (it: string) => (row: Row) => row.reference.toLowerCase() === it.toLowerCase();
      return shop.options({
        find: async (reference) => toOrder(await shop.select(lower(reference))),
        credit: (payment) =>
          shop.pay(
            (row) =>
              lower(payment.reference)(row) &&
              dueFor({ ...payment, reference: row.reference })(row),
          ),
      });
    },
    /^find returns another order for a reference in another case/,
  ],
  'a credit that strips a prefix': [
    payingIf(
      (row, payment) =>
        dueFor({ ...payment, reference: row.reference })(row) &&
        row.reference.replace(/^ORD-/, '') === payment.reference.replace(/^ORD-/, ''),
    ),
    /^credit also paid the order whose reference is the same with a prefix/,
  ],
  'a credit that strips a prefix of its argument alone': [
    payingIf((row, payment) =>
      dueFor({ ...payment, reference: payment.reference.replace(/^ORD-/, '') })(row),
    ),
    /^credit (also paid the order whose reference is the same with a prefix|returned 1, but find)/,
  ],
  'a reference that becomes a number': [
    (shop) => {
      const { find } = shop.options().orders;
      return shop.options({ find: (it, context) => find(String(Number(it)), context) });
    },
    /^find does not find an order that createOrder has stored.*Number/,
  ],
  'two orders of one reference': [
    (shop) => {
      shop.isUnique = false;
      return shop.options();
    },
    /^Two orders share a reference/,
  ],
  'a find that says paid if its read fails': [
    failingRead(
      (it) => typeof it === 'string' && !/^[\w .+%-]*$/.test(it),
      (reference) => madeUp(reference, true),
    ),
    /^find returns a paid order if its read fails/,
  ],
  'a find that makes up an order if its read fails': [
    failingRead((it) => typeof it !== 'string', madeUp),
    /^find returns an order if its read fails/,
  ],
  'a find that makes up unknown orders': [
    withFind(
      (shop) => async (reference) =>
        toOrder(await shop.select(byReference(reference))) ?? madeUp(reference),
    ),
    /^find returns an order for a reference that no order has/,
  ],
  'a find that throws for an unknown order': [
    withFind((shop) => async (reference) => {
      const row = await shop.select(byReference(reference));
      if (row === undefined) throw new Error('no such order');
      return toOrder(row);
    }),
    /^find threw: no such order/,
  ],
  'a column with a default': [
    finding((order) => ({ ...order, paid: true })),
    /^A new order must be unpaid.*a default/,
  ],
  'a `paid` that is no boolean': [
    finding((order) => ({ ...order, paid: (order.paid ? 't' : 'f') as never })),
    /^paid must be true or false, but find returns 'f'/,
  ],
  'an amount in units that becomes 1998.9999999999998': [
    finding((order) => ({ ...order, amount: (Number(order.amount) / 100) * 100 })),
    /^find returns the amount 1998\.9/,
  ],
  'a find with one currency, and a column with several': [
    finding((order) => ({ ...order, currency: 'XOF' })),
    /^createOrder stored the currency 'XAF', but find returns 'XOF'/,
  ],
  'a `closed` that holds for paid orders too': [
    finding((order) => ({ ...order, closed: order.paid })),
    /^credit paid an open order, but find returns closed: true for it/,
  ],
  'a `closed` that the write ignores': [
    (shop) => payingIf(closedIgnored, shop.later('cancel', { isClosed: true }))(shop),
    /^After cancel, find returns closed: true, and credit pays the order all the same/,
  ],
  'a `closed` that is read before the write': [
    (shop) =>
      shop.options(
        {
          async credit(payment) {
            const row = await shop.select(byReference(payment.reference));
            return row?.isClosed === false ? shop.pay((it) => closedIgnored(it, payment)) : 0;
          },
        },
        shop.later('cancel', { isClosed: true }, isUnpaid),
      ),
    /^An order is paid and closed after cancel and its payment at once/,
  ],
  'an `unpaid` that lists the first link alone': [
    attempts((shop, orderOf) => ({
      unpaid: () => shop.list((row) => !row.isPaid && orderOf(row.reference) === row.reference),
    })),
    /^After another link, unpaid lists only the first link of an order/,
  ],
  'a reference that the next link overwrites': [
    (shop) => {
      const overwrite = (reference: string): void => {
        const row = shop.rows.find(byReference(reference))!;
        Object.assign(row, { reference: `${reference}-link` });
      };
      return shop.options({}, { later: { 'another link': overwrite } });
    },
    /^After another link, find no longer finds a paid order.*one row for each link/,
  ],
  'a second link that counts as paid with its order': [
    attempts((shop, orderOf) => ({
      async find(reference) {
        const order = toOrder(await shop.select(byReference(reference)));
        const isPaid = shop.rows.some(
          (row) => row.isPaid && orderOf(row.reference) === orderOf(reference),
        );
        return order && { ...order, paid: isPaid };
      },
    })),
    /^After another link, find reports both links of an order as paid, but only one was/,
  ],
  'a second link that credits its order again': [
    attempts(() => ({})),
    /^After another link, a second link of a paid order can be paid too/,
  ],
  'a first link that can be paid after the second one': [
    attempts((shop, orderOf) => {
      const isClosed = (reference: string): boolean =>
        orderOf(reference) !== reference &&
        shop.rows.some((row) => row.isPaid && row.reference === orderOf(reference));
      return {
        async find(reference) {
          const order = toOrder(await shop.select(byReference(reference)));
          return order && { ...order, closed: isClosed(reference) };
        },
        credit: async (payment) => (isClosed(payment.reference) ? 0 : shop.pay(dueFor(payment))),
      };
    }),
    /^After another link, a second link of a paid order can be paid too/,
  ],
  'a closed link that credit pays all the same': [
    attempts((shop, orderOf) => ({ find: closingOthers(shop, orderOf).find })),
    /^After another link, a second link of a paid order can be paid too/,
  ],
  'two links whose payments at once credit both': [
    attempts((shop, orderOf) => {
      const { isClosed, find } = closingOthers(shop, orderOf);
      return {
        find,
        credit: async (payment) => (isClosed(payment.reference) ? 0 : shop.pay(dueFor(payment))),
      };
    }),
    /^After another link, two payments of one order at once credit both links/,
  ],
  'a write that pays all orders of a customer': [
    payAll,
    /^credit returned \d+, and paid another order too/,
  ],
  'an unconditional credit': [
    payingIf((row, payment) => isOf(payment)(row)),
    /^credit returned 1 for an order that was already paid/,
  ],
  'a credit that pays again from the schedule': [
    payingIf((row, payment, { source }) => (source === 'reconcile' ? isOf : dueFor)(payment)(row)),
    /^credit returned 1 for an order that was already paid/,
  ],
  'a credit for the webhook alone': [
    payingIf((row, payment, { source }) => source === 'webhook' && dueFor(payment)(row)),
    /^credit does not pay an order if the source is 'settle'.*only the row decides/,
  ],
  'a credit that writes to another table': [elsewhereWriting, NO_ROW],
  'a credit that nothing awaits': [
    withCredit((shop) => (payment) => void shop.pay(dueFor(payment)) as never),
    /^credit returned undefined.*`await`/,
  ],
  'a constant count': [
    crediting(() => 1),
    /^credit returned 1 for a reference that no order has.*constant/,
  ],
  'a count from a later SELECT': [
    crediting(async (shop, _, { reference }) =>
      (await shop.select(byReference(reference)))?.isPaid === true ? 1 : 0,
    ),
    /^credit returned a count for a payment that changed nothing.*later SELECT/,
  ],
  'a count that includes further writes': [
    crediting((shop, count, { reference }) => count + shop.receipts.push(reference)),
    /^credit returned \d+ for a payment of another amount, and the order stayed unpaid.*further writes/,
  ],
  'a number of rows below 0': [
    withCredit(() => () => -1),
    /^credit returned -1. It must return the number of rows/,
  ],
  'a credit that throws for unknown references': [
    withCredit((shop) => async (payment) => {
      const row = await shop.select(byReference(payment.reference));
      if (row === undefined) throw new Error('no such order');
      return shop.pay(dueFor(payment));
    }),
    /^For a reference that no order has, credit threw: no such order/,
  ],
  'a find of unpaid orders alone': [
    findingUnpaid,
    /^find finds new orders, but no longer finds one after a call of credit.*unpaid rows/,
  ],
  'a find whose cache a read during the credit fills': [cached('before'), CACHED],
  'a find that remembers that there was no order': [
    (shop) => {
      const none = new Set<string>();
      return withFind(() => async (reference) => {
        if (none.has(reference)) return undefined;
        const order = toOrder(await shop.select(byReference(reference)));
        if (order === undefined) none.add(reference);
        return order;
      })(shop);
    },
    /^find was asked about a reference before its order was stored/,
  ],
  'a status that a wrong payment leaves behind': [
    withCredit((shop) => async (payment) => {
      const isFree = (row: Row): boolean =>
        row.reference === payment.reference && row.status === 'pending';
      const count = await shop.update(isFree, { status: 'processing' });
      return count === 0 ? 0 : shop.pay(dueFor(payment));
    }),
    /^After a payment of another amount, credit no longer pays the order by its own/,
  ],
  'a file that is read and written whole': [
    withCredit((shop) => async (payment) => {
      const rows = shop.rows.map((row) => ({ ...row }));
      await shop.select(() => false);
      const due = rows.filter(dueFor(payment));
      for (const row of due) row.isPaid = true;
      shop.rows = rows;
      return due.length;
    }),
    /^Simultaneous calls for different orders mix them up.*write of all orders/,
  ],
  'a transaction that is rolled back, and whose error is ignored': [
    rolledBack,
    /^credit returned 1, but find reports the order as unpaid.*ROLLBACK/,
  ],
  'a credit that makes the others unpaid': [
    crediting(async (shop, count, { reference }) => {
      if (count === 1) await shop.update((row) => row.reference !== reference, { isPaid: false });
      return count;
    }),
    /^Another order was made unpaid/,
  ],
  'a credit that changes the amount of another order': [
    crediting(async (shop, count) => {
      if (count === 1) await shop.update(isUnpaid, { amount: 1 });
      return count;
    }),
    /^Another order was changed/,
  ],
  'a credit that deletes the unpaid orders of other amounts': [
    crediting((shop, count, { amount }) => {
      shop.rows = shop.rows.filter((row) => row.isPaid || row.amount !== amount + 1);
      return count;
    }),
    /^Another order was removed/,
  ],
  'a condition without the reference': [
    payingIf((row, payment) => dueFor({ ...payment, reference: row.reference })(row)),
    /^credit returned \d+, and paid another order too/,
  ],
  'a credit of the oldest order of the same amount': [
    withCredit((shop) => (payment) => {
      const oldest = shop.rows.find((row) => dueFor({ ...payment, reference: row.reference })(row));
      return shop.pay((row) => row === oldest);
    }),
    /^credit returned 1, (and paid another order too|but find reports the order as unpaid)/,
  ],
  'a credit of any amount above the price': [
    payingIf(
      (row, payment) =>
        payment.amount >= row.amount && dueFor({ ...payment, amount: row.amount })(row),
    ),
    OF_AMOUNT,
  ],
  'an amount that is compared in 32 bits': [
    payingIf((row, payment) => dueFor({ ...payment, amount: payment.amount % 2 ** 32 })(row)),
    OF_AMOUNT,
  ],
  'amounts that are compared as 32-bit floats': [
    payingIf(
      (row, payment) =>
        Math.fround(payment.amount) === Math.fround(row.amount) &&
        dueFor({ ...payment, amount: row.amount })(row),
    ),
    OF_AMOUNT,
  ],
  'an amount within a tolerance': [
    payingIf(
      (row, payment) =>
        Math.abs(payment.amount - row.amount) <= row.amount * 0.0005 &&
        dueFor({ ...payment, amount: row.amount })(row),
    ),
    OF_AMOUNT,
  ],
  'a credit without the currency': [
    payingIf((row, payment) => dueFor({ ...payment, currency: row.currency })(row)),
    OF_CURRENCY,
  ],
  'a credit without the currency from the schedule': [
    payingIf((row, payment, { source }) =>
      dueFor(source === 'reconcile' ? { ...payment, currency: row.currency } : payment)(row),
    ),
    OF_CURRENCY,
  ],
  'a currency that is joined by OR': [
    payingIf((row, payment) => dueFor(payment)(row) || (isUnpaid(row) && row.currency === 'XAF')),
    /^credit returned \d+, and paid another order too.*AND/,
  ],
  'an order that is deleted later': [
    (shop) => {
      const remove = (reference: string): void => {
        shop.rows = shop.rows.filter((row) => row.isPaid || row.reference !== reference);
      };
      return shop.options({}, { later: { remove } });
    },
    /^After remove, find no longer finds an unpaid order/,
  ],
  'a read, then a write': [
    withCredit((shop) => async (payment) => {
      const row = await shop.select(dueFor(payment));
      return row === undefined ? 0 : shop.pay(isOf(payment));
    }),
    /^20 of 20 simultaneous calls credited the same order/,
  ],
  'a table of payments without a unique key': [
    (shop) => {
      const payments: string[] = [];
      return withCredit(() => async (payment) => {
        const isKnown = payments.includes(payment.reference);
        await shop.select(() => false);
        if (isKnown) return 0;
        payments.push(payment.reference);
        return shop.pay(isOf(payment));
      })(shop);
    },
    /^20 of 20 simultaneous calls credited the same order/,
  ],
  'a lock in the memory of each of two processes': [
    (shop) => {
      const locks = [new Set<string>(), new Set<string>()];
      let calls = 0;
      return withCredit(() => async (payment) => {
        const lock = locks[calls++ % 2]!;
        if (lock.has(payment.reference)) return 0;
        lock.add(payment.reference);
        return shop.pay(isOf(payment));
      })(shop);
    },
    /^2 of 20 simultaneous calls credited the same order/,
  ],
  'a `reference` that gives one text': [
    (shop) => shop.options({}, { reference: () => 'order-42' }),
    /^reference returned 'order-42', but must return a new text on each call/,
  ],
};

const OF_ORDERS = ['P22', 'P23', 'P27', 'P28', 'P29', 'P30', 'P38'];
testFaults(broken, {
  tags: [...OF_ORDERS, 'Q12', 'Q14', 'Q15', 'Q19', 'Q22'],
  concurrent: true,
});

it.each([
  ['a credit of all orders of the customer', payAll, /collation|SQL/],
  ['a rolled back credit', rolledBack, /credited the same order/],
  ['a find of unpaid orders', findingUnpaid, /conversion of the reference/],
  ['a credit that writes to another table', elsewhereWriting, /no longer pays the order/],
])('accuses %s of nothing else', async (_what, make, foreign) => {
  expect(await faultsOf(make)).not.toContainEqual(expect.stringMatching(foreign));
});
