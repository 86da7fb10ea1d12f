/** Broken `orders` in memory: each is caught by the sentence that names its fault. */
import type { Order, Orders } from '@paylink/payments';
import { expect, it, vi } from 'vitest';
import { faultsOf, type Broken } from './faults.js';
import { dueFor, isOf, Shop, toOrder, type Payment, type Row } from './shop.js';

vi.spyOn(console, 'warn').mockReturnValue(undefined);

type Make = (shop: Shop) => Broken;
type Find = Orders['find'];
const TENANTS = ['shop-a', 'shop-b'] as const;

const byReference =
  (reference: string) =>
  (row: { reference: string }): boolean =>
    row.reference === reference;

/** A find that changes the reference first, and returns its argument. */
const echoing =
  (change: (reference: string) => string): Make =>
  (shop) =>
    shop.options({
      async find(reference) {
        const order = toOrder(await shop.select(byReference(change(reference))));
        return order && { ...order, reference };
      },
    });
const ECHOED = (which: string): RegExp =>
  new RegExp(`^find returns an order for a reference .*${which}.*, under that reference`);

const withTenant =
  (isSame: (stored: string | null, asked: string | null) => boolean): Make =>
  (shop) =>
    shop.options(
      {
        find: async (reference, { tenant }) =>
          toOrder(
            await shop.select((row) => row.reference === reference && isSame(row.tenant, tenant)),
          ),
        credit: (payment, { tenant }) =>
          shop.update((row) => isSame(row.tenant, tenant) && dueFor(payment, row.tenant)(row), {
            isPaid: true,
          }),
      },
      { tenants: TENANTS },
    );
const FOREIGN = /^find returns an order to another tenant, or to null/;

const bounded =
  (isDue: (row: { amount: number }, amount: number) => boolean): Make =>
  (shop) =>
    shop.options({
      async find(reference) {
        const order = toOrder(await shop.select(byReference(reference)));
        return order && { ...order, amount: { min: 1, max: Number(order.amount) * 2 } };
      },
      credit: ({ reference, amount, currency }) =>
        shop.update(
          (row) =>
            row.reference === reference &&
            row.currency === currency &&
            isDue(row, amount) &&
            !row.isPaid,
          { isPaid: true },
        ),
    });

const closedIgnored = (payment: Payment) => (row: Parameters<ReturnType<typeof isOf>>[0]) =>
  isOf(payment)(row) && !row.isPaid;

/** Orders whose state is one column. */
const byStatus =
  (paid: readonly string[], isDue: (status: string) => boolean, later: string, set: string): Make =>
  (shop) =>
    shop.options(
      {
        async find(reference) {
          const row = await shop.select(byReference(reference));
          const order = toOrder(row);
          return order && { ...order, paid: paid.includes(row!.status) };
        },
        credit: (payment) =>
          shop.update((row) => isOf(payment)(row) && isDue(row.status), { status: 'paid' }),
        unpaid: () => shop.list((row) => isDue(row.status)),
        paid: () => shop.list((row) => paid.includes(row.status)),
      },
      shop.later(later, { status: set }),
    );

const limited =
  (limit: number): Make =>
  (shop) =>
    shop.options({ unpaid: () => shop.list((row) => !row.isPaid).slice(0, limit) });
const LIMIT = /^unpaid lists \d+ orders, and not the newest.*LIMIT/;

/** A shop whose find and credit begin with a turn in which another call can come. */
function withVariable(): Make {
  let current: string | null = null;
  return (shop) => {
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
}
const MIXED_TENANTS = /^Simultaneous calls for two tenants mix them up.*variable/;

/** Attempts of one order: each link is a row, and `of` names their order. */
function attempts(
  changes: (shop: Shop, orderOf: (reference: string) => string) => Partial<Orders>,
): Make {
  return (shop) => {
    const orders = new Map<string, string>();
    const orderOf = (reference: string): string => orders.get(reference) ?? reference;
    let count = 0;
    return shop.options(changes(shop, orderOf), {
      later: {
        async 'another link'(reference) {
          const first = shop.rows.find((row) => row.reference === reference)!;
          const next = `${reference}-link-${count++}`;
          await shop.insert({ ...first, reference: next });
          orders.set(next, orderOf(reference));
          return next;
        },
      },
    });
  };
}

const money =
  (
    addTo: (shop: Shop, amount: number, reference: string) => Promise<void>,
    changes: Partial<Orders> = {},
  ): Make =>
  (shop) =>
    shop.options(
      {
        ...changes,
        async credit(payment) {
          const count = await shop.update(dueFor(payment), { isPaid: true });
          if (count === 1) await addTo(shop, payment.amount, payment.reference);
          return count;
        },
      },
      { total: () => shop.balance },
    );

const failingRead =
  (answer: (reference: string) => Order): Make =>
  (shop) =>
    shop.options({
      async find(reference) {
        try {
          if (!/^[\w .+%-]*$/.test(reference)) throw new Error('the driver refuses this text');
          return toOrder(await shop.select(byReference(reference)));
        } catch {
          return answer(reference);
        }
      },
    });

const broken: Record<string, readonly [Make, RegExp]> = {
  'bounds and a condition on the amount': [
    bounded((row, amount) => row.amount === amount),
    /^find returns bounds, and credit does not pay an order by \d+, another amount within them/,
  ],
  'bounds and a condition on the least amount of the shop': [
    bounded((row, amount) => amount >= row.amount),
    /^find returns bounds, and credit does not pay an order by 1,/,
  ],
  'a status column without `closed`': [
    byStatus(['paid', 'shipped'], (status) => status === 'pending', 'cancel', 'cancelled'),
    /^After cancel, find reports an unpaid order as open, and unpaid no longer lists it/,
  ],
  'a status column without `closed` and without lists': [
    (shop) => {
      const options = byStatus(['paid'], (it) => it === 'pending', 'fail', 'failed')(shop);
      const { find, credit } = options.orders;
      return { ...options, orders: { find, credit } };
    },
    /^After fail, find reports an unpaid order as open, and credit does not pay it.*closed: true/,
  ],
  'an expired order that counts as paid': [
    byStatus(['paid', 'expired'], (status) => status === 'pending', 'expire', 'expired'),
    /^After expire, find reports an unpaid order as paid/,
  ],
  'a wallet that is read and then written': [
    money(async (shop, amount) => {
      const before = shop.balance;
      await shop.select(() => false);
      shop.balance = before + amount;
    }),
    /^total moves by \d+ when three orders are credited at once.*balance = balance \+ amount/,
  ],
  'a wallet that is set to the amount': [
    money(async (shop, amount) => void (shop.balance = amount)),
    /^total moves by 0 for one credit. Let credit add to it.*never replace it/,
  ],
  'a wallet that gets the same sum for every payment': [
    money(async (shop) => void (shop.balance += 1_500)),
    /^total moves by 1500 for a payment of 1999.*Add the amount of the payment/,
  ],
  'a wallet that gets the amount of the order for a payment within bounds': [
    (shop) => {
      const options = bounded(() => true)(shop);
      const { credit } = options.orders;
      return {
        ...options,
        orders: {
          ...options.orders,
          async credit(payment, context) {
            const count = await credit(payment, context);
            const row = shop.rows.find(byReference(payment.reference));
            if (count === 1) shop.balance += row!.amount;
            return count;
          },
        },
        total: () => shop.balance,
      };
    },
    /^total moves by 1999 for a payment of 1,.*Add the amount of the payment/,
  ],
  'a wallet that a second credit moves too': [
    (shop) =>
      shop.options(
        {
          async credit(payment) {
            const count = await shop.update(dueFor(payment), { isPaid: true });
            if ((await shop.select(byReference(payment.reference)))?.isPaid)
              shop.balance += payment.amount;
            return count;
          },
        },
        { total: () => shop.balance },
      ),
    /^total moves by \d+ for one credit, a second one and a wrong payment/,
  ],
  'a total that no credit moves': [
    money(async () => undefined),
    /^total moves by 0 for one credit/,
  ],
  'LIMIT 20': [limited(20), LIMIT],
  'LIMIT 25': [limited(25), LIMIT],
  'LIMIT 50': [limited(50), LIMIT],
  'LIMIT 100': [limited(100), LIMIT],
  'LIMIT 100, the newest first': [
    (shop) =>
      shop.options({
        unpaid: () =>
          shop
            .list((row) => !row.isPaid)
            .reverse()
            .slice(0, 100),
      }),
    /^unpaid no longer lists an unpaid order after later ones/,
  ],
  'an `unpaid` with the newest first': [
    (shop) => shop.options({ unpaid: () => shop.list((row) => !row.isPaid).reverse() }),
    /^unpaid no longer lists .*or lists it behind them/,
  ],
  'an `unpaid` that lists numbers of rows': [
    (shop) =>
      shop.options({
        unpaid: () => shop.rows.flatMap((row, index) => (row.isPaid ? [] : [`${index}`])),
      }),
    /^unpaid lists '\d+', but find returns no order with that reference/,
  ],
  'an `unpaid` in pages that start after a time': [
    (shop) =>
      shop.options({
        unpaid: () => {
          const [first, ...others] = shop.list((row) => !row.isPaid);
          return first === undefined ? [] : [first, ...others.slice(-10)];
        },
      }),
    /^unpaid no longer lists .*page that starts after a time/,
  ],
  'an `unpaid` of one tenant': [
    (shop) =>
      shop.options(
        { unpaid: () => shop.list((row) => !row.isPaid && row.tenant === TENANTS[0]) },
        { tenants: TENANTS },
      ),
    /^unpaid lists '.*', but find returns no order with that reference.*only those of the tenant/,
  ],
  'a tenant in a variable of the module': [withVariable(), MIXED_TENANTS],
  'an unknown tenant that means the second one': [
    withTenant((stored, asked) => stored === (asked === TENANTS[0] ? asked : TENANTS[1])),
    FOREIGN,
  ],
  'tenants by LIKE': [
    withTenant((stored, asked) => stored === asked || (asked === '%' && stored !== null)),
    FOREIGN,
  ],
  'a cache whose key leaves the tenant out': [
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
            const count = await credit(payment, context);
            cache.delete(payment.reference);
            return count;
          },
        },
        { tenants: TENANTS },
      );
    },
    /^find returns an order to another tenant, or to null: one of 'shop-a' to 'shop-b'/,
  ],
  '`tenant = $1 OR tenant IS NULL`': [
    withTenant((stored, asked) => stored === asked || stored === null),
    FOREIGN,
  ],
  'a null that means every tenant': [
    withTenant((stored, asked) => stored === asked || asked === null),
    FOREIGN,
  ],
  'tenants without case': [
    withTenant((stored, asked) => stored?.toLowerCase() === asked?.toLowerCase()),
    FOREIGN,
  ],
  'tenants that are cut': [
    withTenant((stored, asked) => stored?.slice(0, 10) === asked?.slice(0, 10)),
    FOREIGN,
  ],
  'tenants by their beginning': [
    withTenant((stored, asked) => asked !== null && stored?.startsWith(asked) === true),
    FOREIGN,
  ],
  'a write without the tenant for null': [
    (shop) =>
      shop.options(
        {
          credit: (payment, { tenant }) =>
            shop.update(
              (row) =>
                (tenant === null || row.tenant === tenant) && dueFor(payment, row.tenant)(row),
              { isPaid: true },
            ),
        },
        { tenants: TENANTS },
      ),
    /^credit returned 1 for a payment of another tenant, and paid the order/,
  ],
  'a find that strips a prefix': [echoing((it) => it.replace(/^ORD-/i, '')), ECHOED('prefix|ORD-')],
  'a find that strips every prefix': [echoing((it) => it.replace(/^[a-z]+_/, '')), ECHOED('_')],
  'a find that strips an attempt': [echoing((it) => it.replace(/[#:].*$/, '')), ECHOED('2')],
  'a find that strips hyphens': [
    (shop) =>
      shop.options({
        async find(reference) {
          const bare = (it: string): string => it.replaceAll('-', '');
          const order = toOrder(await shop.select((it) => bare(it.reference) === bare(reference)));
          return order && { ...order, reference };
        },
      }),
    ECHOED('without hyphens'),
  ],
  'a find that decodes': [echoing(decodeURIComponent), ECHOED('percent-encoded')],
  'a find that makes NFC': [
    echoing((it) => it.normalize('NFC')),
    ECHOED('with a decomposed accent'),
  ],
  'a find that makes NFD': [echoing((it) => it.normalize('NFD')), ECHOED('with a composed accent')],
  'a find that trims': [echoing((it) => it.trim()), ECHOED('blank')],
  'a find that lowers the case': [echoing((it) => it.toLowerCase()), ECHOED('in another case')],
  'a find by a beginning': [
    (shop) =>
      shop.options({
        async find(reference) {
          const order = toOrder(await shop.select((it) => it.reference.startsWith(reference)));
          return order && { ...order, reference };
        },
      }),
    ECHOED('cut'),
  ],
  'a credit that strips a prefix': [
    (shop) =>
      shop.options({
        credit: (payment) =>
          shop.update(
            (row) =>
              dueFor({ ...payment, reference: row.reference })(row) &&
              row.reference.replace(/^ORD-/, '') === payment.reference.replace(/^ORD-/, ''),
            { isPaid: true },
          ),
      }),
    /^credit also paid the order whose reference is the same with a prefix/,
  ],
  'a credit that strips a prefix of its argument alone': [
    (shop) =>
      shop.options({
        credit: (payment) => {
          const reference = payment.reference.replace(/^ORD-/, '');
          return shop.update(dueFor({ ...payment, reference }), { isPaid: true });
        },
      }),
    /^credit (also paid the order whose reference is the same with a prefix|returned 1, but find)/,
  ],
  'a find that says paid if its read fails': [
    failingRead((reference) => ({ reference, amount: 1, currency: 'XOF', paid: true })),
    /^find returns a paid order if its read fails/,
  ],
  'a find that makes up an order if its read fails': [
    failingRead((reference) => ({ reference, amount: 1, currency: 'XOF', paid: false })),
    /^find returns an order if its read fails/,
  ],
  'a `closed` that the write ignores': [
    (shop) =>
      shop.options(
        { credit: (payment) => shop.update(closedIgnored(payment), { isPaid: true }) },
        shop.later('cancel', { isClosed: true }),
      ),
    /^After cancel, find returns closed: true, and credit pays the order all the same/,
  ],
  'a `closed` that is read before the write': [
    (shop) =>
      shop.options(
        {
          async credit(payment) {
            const row = await shop.select(byReference(payment.reference));
            if (row?.isClosed !== false) return 0;
            return shop.update(closedIgnored(payment), { isPaid: true });
          },
        },
        shop.later('cancel', { isClosed: true }, (row) => !row.isPaid),
      ),
    /^An order is paid and closed after cancel and its payment at once/,
  ],
  'a further write for a closed order': [
    (shop) =>
      shop.options(
        { credit: (payment) => shop.update(closedIgnored(payment), { isPaid: true }) },
        shop.later('expire', { isClosed: true }),
      ),
    /^After expire, find returns closed: true, and credit pays/,
  ],
  'a `closed` that holds for paid orders too': [
    (shop) => {
      const { find } = shop.options().orders;
      return shop.options({
        async find(...call) {
          const order = await find(...call);
          return order && { ...order, closed: order.paid };
        },
      });
    },
    /^credit paid an open order, but find returns closed: true for it/,
  ],
  'an `unpaid` that lists the first link alone': [
    attempts((shop, orderOf) => ({
      unpaid: () => shop.list((row) => !row.isPaid && orderOf(row.reference) === row.reference),
    })),
    /^After another link, unpaid lists only the first link of an order/,
  ],
  'a reference that the next link overwrites': [
    (shop) =>
      shop.options(
        {},
        {
          later: {
            'another link': (reference) => {
              const row = shop.rows.find((it) => it.reference === reference)!;
              Object.assign(row, { reference: `${reference}-link` });
            },
          },
        },
      ),
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
  'two links whose payments at once credit both': [
    attempts((shop, orderOf) => {
      const isClosed = (reference: string): boolean =>
        shop.rows.some(
          (row) =>
            row.isPaid &&
            row.reference !== reference &&
            orderOf(row.reference) === orderOf(reference),
        );
      return {
        async find(reference) {
          const order = toOrder(await shop.select(byReference(reference)));
          return order && { ...order, closed: !order.paid && isClosed(reference) };
        },
        async credit(payment) {
          if (isClosed(payment.reference)) return 0;
          return shop.update(dueFor(payment), { isPaid: true });
        },
      };
    }),
    /^After another link, two payments of one order at once credit both links/,
  ],
  'a write that pays all orders of a customer': [
    (shop) =>
      shop.options({
        async credit(payment) {
          if ((await shop.update(dueFor(payment), { isPaid: true })) === 0) return 0;
          return shop.update((row) => !row.isPaid, { isPaid: true });
        },
      }),
    /^credit returned \d+, and paid another order too/,
  ],
  'a count from a later SELECT': [
    (shop) =>
      shop.options({
        async credit(payment) {
          await shop.update(dueFor(payment), { isPaid: true });
          return (await shop.select(byReference(payment.reference)))?.isPaid === true ? 1 : 0;
        },
      }),
    /^credit returned a count for a payment that changed nothing.*later SELECT/,
  ],
  'a count that includes further writes': [
    (shop) =>
      shop.options({
        async credit(payment) {
          const count = await shop.update(dueFor(payment), { isPaid: true });
          return count + shop.receipts.push(payment.reference);
        },
      }),
    /^credit returned \d+ for a payment of another amount, and the order stayed unpaid.*further writes/,
  ],
  'a credit that throws for unknown references': [
    (shop) =>
      shop.options({
        async credit(payment) {
          if ((await shop.select(byReference(payment.reference))) === undefined)
            throw new Error('no such order');
          return shop.update(dueFor(payment), { isPaid: true });
        },
      }),
    /^For a reference that no order has, credit threw: no such order/,
  ],
  'a find of unpaid orders alone': [
    (shop) =>
      shop.options({
        find: async (reference) =>
          toOrder(await shop.select((row) => row.reference === reference && !row.isPaid)),
      }),
    /^find finds new orders, but no longer finds one after a call of credit.*unpaid rows/,
  ],
  'a find whose cache a read during the credit fills': [
    (shop) => {
      const cache = new Map<string, Order>();
      const { find, credit } = shop.options().orders;
      return shop.options({
        async find(reference, context) {
          const order = cache.get(reference) ?? (await find(reference, context));
          if (order) cache.set(reference, order);
          return order;
        },
        async credit(payment, context) {
          cache.delete(payment.reference);
          await shop.select(() => false);
          return credit(payment, context);
        },
      });
    },
    /^find was called before the credit or meanwhile, and still returns an unpaid order after it/,
  ],
  'a status that a wrong payment leaves behind': [
    (shop) =>
      shop.options({
        async credit(payment) {
          const isFree = (row: Row): boolean =>
            row.reference === payment.reference && row.status === 'pending';
          if ((await shop.update(isFree, { status: 'processing' })) === 0) return 0;
          return shop.update(dueFor(payment), { isPaid: true });
        },
      }),
    /^After a payment of another amount, credit no longer pays the order by its own/,
  ],
  'a file that is read and written whole': [
    (shop) => {
      const { find } = shop.options().orders;
      return shop.options({
        find,
        async credit(payment) {
          const rows = shop.rows.map((row) => ({ ...row }));
          await shop.select(() => false);
          const due = rows.filter(dueFor(payment));
          for (const row of due) row.isPaid = true;
          shop.rows = rows;
          return due.length;
        },
      });
    },
    /^Simultaneous calls for different orders mix them up.*write of all orders/,
  ],
  'a transaction that is rolled back, and whose error is ignored': [
    (shop) => shop.options({ credit: async (payment) => shop.list(dueFor(payment)).length }),
    /^credit returned 1, but find reports the order as unpaid.*ROLLBACK/,
  ],
  'a find that remembers that there was no order': [
    (shop) => {
      const none = new Set<string>();
      return shop.options({
        async find(reference) {
          if (none.has(reference)) return undefined;
          const order = toOrder(await shop.select(byReference(reference)));
          if (order === undefined) none.add(reference);
          return order;
        },
      });
    },
    /^find was asked about a reference before its order was stored/,
  ],
  'a find with one currency, and a column with several': [
    (shop) => {
      const { orders } = shop.options();
      const find: Find = async (...call) => {
        const order = await orders.find(...call);
        return order && { ...order, currency: 'XOF' };
      };
      return shop.options({ find });
    },
    /^createOrder stored the currency 'XAF', but find returns 'XOF'/,
  ],
  'a credit that makes the others unpaid': [
    (shop) =>
      shop.options({
        async credit(payment) {
          if ((await shop.update(dueFor(payment), { isPaid: true })) === 0) return 0;
          await shop.update((row) => row.reference !== payment.reference, { isPaid: false });
          return 1;
        },
      }),
    /^Another order was made unpaid/,
  ],
  'a credit that changes the amount of another order': [
    (shop) =>
      shop.options({
        async credit(payment) {
          const count = await shop.update(dueFor(payment), { isPaid: true });
          if (count === 1) await shop.update((row) => !row.isPaid, { amount: 1 });
          return count;
        },
      }),
    /^Another order was changed/,
  ],
  'a credit of the oldest order of the same amount': [
    (shop) =>
      shop.options({
        credit: ({ amount, currency }) => {
          const oldest = shop.rows.find(
            (row) => row.amount === amount && row.currency === currency && !row.isPaid,
          );
          return shop.update((row) => row === oldest, { isPaid: true });
        },
      }),
    /^credit returned 1, (and paid another order too|but find reports the order as unpaid)/,
  ],
  'a credit of any amount above the price': [
    (shop) =>
      shop.options({
        credit: (payment) =>
          shop.update(
            (row) =>
              payment.amount >= row.amount && dueFor({ ...payment, amount: row.amount })(row),
            { isPaid: true },
          ),
      }),
    /^credit returned 1 for a payment of another amount, and paid the order/,
  ],
  'an order that is deleted later': [
    (shop) =>
      shop.options(
        {},
        {
          later: {
            remove: (reference) => {
              shop.rows = shop.rows.filter((row) => row.isPaid || row.reference !== reference);
            },
          },
        },
      ),
    /^After remove, find no longer finds an unpaid order/,
  ],
  'a table of payments without a unique key': [
    (shop) => {
      const payments: string[] = [];
      return shop.options({
        async credit(payment) {
          const isKnown = payments.includes(payment.reference);
          await shop.select(() => false);
          if (isKnown) return 0;
          payments.push(payment.reference);
          return shop.update(isOf(payment), { isPaid: true });
        },
      });
    },
    /^20 of 20 simultaneous calls credited the same order/,
  ],
  'a lock in the memory of each of two processes': [
    (shop) => {
      const locks = [new Set<string>(), new Set<string>()];
      let calls = 0;
      return shop.options({
        async credit(payment) {
          const lock = locks[calls++ % 2]!;
          if (lock.has(payment.reference)) return 0;
          lock.add(payment.reference);
          return shop.update(isOf(payment), { isPaid: true });
        },
      });
    },
    /^2 of 20 simultaneous calls credited the same order/,
  ],
  'a number of rows below 0': [
    (shop) => shop.options({ credit: () => -1 }),
    /^credit returned -1. It must return the number of rows/,
  ],
  'a `reference` that gives one text': [
    (shop) => shop.options({}, { reference: () => 'order-42' }),
    /^reference returned 'order-42', but must return a new text on each call/,
  ],
};

it.concurrent.each(Object.keys(broken))(
  'names the fault of %s',
  { tags: ['Q12', 'Q14', 'Q15', 'Q19', 'Q22'] },
  async (name) => {
    const [make, sentence] = broken[name]!;
    expect(await faultsOf(make(new Shop()), sentence)).toContainEqual(
      expect.stringMatching(sentence),
    );
  },
);

it.each([
  [
    'a credit of all orders of the customer',
    'a write that pays all orders of a customer',
    /collation|SQL/,
  ],
  [
    'a rolled back credit',
    'a transaction that is rolled back, and whose error is ignored',
    /credited the same order/,
  ],
  ['a find of unpaid orders', 'a find of unpaid orders alone', /conversion of the reference/],
])('accuses %s of nothing else', async (_what, name, foreign) => {
  expect(await faultsOf(broken[name]![0](new Shop()))).not.toContainEqual(
    expect.stringMatching(foreign),
  );
});
