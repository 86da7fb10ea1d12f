/** Right `orders` in memory, however unusual: none is accused. */
import { randomBytes } from 'node:crypto';
import type { Orders } from '@paylink/payments';
import { expect, it, vi } from 'vitest';
import { faultsOf, type Broken } from './faults.js';
import { dueFor, Shop, toOrder, type Payment, type Row } from './shop.js';

vi.spyOn(console, 'warn').mockReturnValue(undefined);

type Make = (shop: Shop) => Broken;

const byReference =
  (reference: string) =>
  (row: { reference: string }): boolean =>
    row.reference === reference;

/** Right orders whose credit tells another count. */
const counting =
  (tell: (count: number) => ReturnType<Orders['credit']>): Make =>
  (shop) =>
    shop.options({
      credit: async (payment) => tell(await shop.update(dueFor(payment), { isPaid: true })),
    });

/** Right orders whose credit throws if it changes nothing, as some databases do. */
const throwing =
  (isThrown: (row: Row | undefined) => boolean): Make =>
  (shop) =>
    shop.options({
      async credit(payment) {
        const count = await shop.update(dueFor(payment), { isPaid: true });
        const row = shop.rows.find(byReference(payment.reference));
        if (count === 0 && isThrown(row)) throw new Error('could not serialize access');
        return count;
      },
    });

const REFUNDED = ['paid', 'shipped', 'refunded'];
const byStatus =
  (later: Broken['later']): Make =>
  (shop) =>
    shop.options(
      {
        async find(reference) {
          const row = await shop.select(byReference(reference));
          const order = toOrder(row);
          const closed = row?.status === 'cancelled';
          return order && { ...order, paid: REFUNDED.includes(row!.status), closed };
        },
        credit: (payment) =>
          shop.update((row) => dueFor(payment)(row) && row.status === 'pending', {
            status: 'paid',
          }),
        unpaid: () => shop.list(({ status }) => status === 'pending'),
        paid: () => shop.list(({ status }) => REFUNDED.includes(status)),
      },
      { later },
    );
const setting = (shop: Shop, status: string, from?: string) => (reference: string) =>
  shop.update((row) => row.reference === reference && row.status === (from ?? row.status), {
    status,
  });

/** A shop that accepts references of one form alone, and refuses a search for another. */
const formed =
  (form: RegExp, reference?: () => string): Make =>
  (shop) => {
    const { orders } = shop.options();
    const check = (it: string): void => {
      if (!form.test(it)) throw new Error('invalid input syntax');
    };
    return shop.options(
      {
        find(it, context) {
          check(it);
          return orders.find(it, context);
        },
        credit(payment, context) {
          check(payment.reference);
          return orders.credit(payment, context);
        },
      },
      {
        reference,
        createOrder: (order) => {
          check(order.reference);
          return shop.insert(order);
        },
      },
    );
  };

function wallet(shop: Shop, changes: Partial<Broken> = {}): Broken {
  return shop.options(
    {
      async credit(payment) {
        const count = await shop.update(dueFor(payment), { isPaid: true });
        if (count === 1) {
          shop.balance += payment.amount;
          shop.receipts.push(payment.reference);
        }
        return count;
      },
    },
    {
      total: () => shop.balance,
      effects: (reference) => shop.receipts.filter((it) => it === reference).length,
      ...changes,
    },
  );
}

const free =
  (
    isDue: (amount: number) => boolean,
    max = (amount: number): number => amount * 2,
    min = 1,
  ): Make =>
  (shop) =>
    shop.options({
      async find(reference) {
        const order = toOrder(await shop.select(byReference(reference)));
        const amount = Number(order?.amount);
        return order && { ...order, amount: { min, max: max(amount) } };
      },
      credit: ({ reference, amount, currency }: Payment) =>
        shop.update(
          (row) =>
            row.reference === reference &&
            row.currency === currency &&
            isDue(amount) &&
            !row.isPaid,
          { isPaid: true },
        ),
    });

let number = 0;

const right: Record<string, Make> = {
  'the plain shop': (shop) => shop.options(),
  'a shop without lists': (shop) => {
    const { find, credit } = shop.options().orders;
    return { ...shop.options(), orders: { find, credit } };
  },
  'a bigint as the count': counting((count) => BigInt(count)),
  'no count at all': counting(() => null),
  'a trigger that is counted': counting((count) => count * 2),
  'a cart of three rows': counting((count) => count * 3),
  'a draft and a published row': (shop) =>
    shop.options({
      async credit(payment) {
        const count = await shop.update(dueFor(payment), { isPaid: true });
        return count === 1 ? 1 + (await shop.update(byReference(payment.reference), {})) : 0;
      },
    }),
  'a second call that throws': throwing((row) => row?.isPaid === true),
  'a unique row of the payment, which throws for every payment that is not due': throwing(
    (row) => row !== undefined,
  ),
  'a second call that throws, with a wallet': (shop) => {
    const options = wallet(shop);
    const { credit } = options.orders;
    return {
      ...options,
      orders: {
        ...options.orders,
        async credit(...call) {
          const count = await credit(...call);
          if (count === 0 && shop.rows.find(byReference(call[0].reference))?.isPaid)
            throw new Error('duplicate key value violates unique constraint');
          return count;
        },
      },
    };
  },
  'a lock of the row around a read and a write': (shop) => {
    let last: Promise<unknown> = Promise.resolve();
    return shop.options({
      credit(payment) {
        const run = last.then(async () => {
          const row = await shop.select(byReference(payment.reference));
          if (row === undefined || !dueFor(payment)(row)) return 0;
          return shop.update(byReference(payment.reference), { isPaid: true });
        });
        last = run;
        return run;
      },
    });
  },
  ObjectIds: formed(/^[0-9a-f]{24}$/),
  'ObjectIds by the option `reference`': formed(/^[0-9a-f]{24}$/, () =>
    randomBytes(12).toString('hex'),
  ),
  'numbers of ten digits behind ORD-': formed(
    /^ORD-\d{10}$/,
    () => `ORD-${String(++number).padStart(10, '0')}`,
  ),
  'integer columns': formed(/^\d{1,18}$/),
  'UUID columns': formed(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/),
  'a status column with ship and refund': (shop) =>
    byStatus({ ship: setting(shop, 'shipped'), refund: setting(shop, 'refunded') })(shop),
  'a status column with cancel, which closes': (shop) =>
    byStatus({ cancel: setting(shop, 'cancelled', 'pending') })(shop),
  'a closed column that the write requires': (shop) =>
    shop.options({}, shop.later('expire', { isClosed: true })),
  'a closed column that is set on unpaid orders alone': (shop) =>
    shop.options(
      {},
      shop.later('cancel', { isClosed: true }, (row) => !row.isPaid),
    ),
  'an edit of the amount': (shop) => shop.options({}, shop.later('edit', { amount: 2_000 })),
  'an edit of the currency': (shop) => shop.options({}, shop.later('edit', { currency: 'XAF' })),
  'a refund that throws for unpaid orders': (shop) =>
    shop.options(
      {},
      {
        later: {
          refund(reference) {
            if (!shop.rows.find(byReference(reference))!.isPaid) throw new Error('not paid');
          },
        },
      },
    ),
  'a cancel that throws for paid orders': (shop) =>
    shop.options(
      {},
      {
        later: {
          async cancel(reference) {
            const isOpen = (row: Row): boolean => row.reference === reference && !row.isPaid;
            if ((await shop.update(isOpen, { isClosed: true })) === 0) throw new Error('is paid');
          },
        },
      },
    ),
  'a wallet': (shop) => wallet(shop),
  'a debt that each credit lowers': (shop) => wallet(shop, { total: () => -shop.balance }),
  'a wallet whose total is text': (shop) =>
    wallet(shop, { total: () => Promise.resolve(`${shop.balance}`) }),
  'a wallet in the major unit': (shop) => wallet(shop, { total: () => shop.balance / 100 }),
  'a free amount': free(() => true),
  'a free amount within bounds that the write compares too': free((amount) => amount >= 1),
  'a free amount whose least is above some orders': free(
    () => true,
    () => 100_000_000_000,
    500,
  ),
  'a free amount whose bounds are one': free(
    () => true,
    (amount) => amount,
  ),
  'amounts as bigint': (shop) => {
    const { orders } = shop.options();
    return shop.options({
      async find(...call) {
        const order = await orders.find(...call);
        return order && { ...order, amount: BigInt(Number(order.amount)) };
      },
    });
  },
  'amounts as decimal text': (shop) => {
    const { orders } = shop.options();
    return shop.options({
      async find(...call) {
        const order = await orders.find(...call);
        return order && { ...order, amount: `${Number(order.amount)}.00` };
      },
    });
  },
  'two tenants': (shop) => shop.options({}, { tenants: ['shop-a', 'shop-b'] }),
  'tenants that are UUIDs without case': (shop) => {
    const same = (one: string | null, two: string | null): boolean =>
      one?.toLowerCase() === two?.toLowerCase();
    return shop.options(
      {
        find: async (reference, { tenant }) =>
          toOrder(
            await shop.select((row) => row.reference === reference && same(row.tenant, tenant)),
          ),
        credit: (payment, { tenant }) =>
          shop.update((row) => same(row.tenant, tenant) && dueFor(payment, row.tenant)(row), {
            isPaid: true,
          }),
      },
      {
        tenants: ['0b8f2c4e-7a61-4f4d-9d7e-1c2a3b4c5d6e', '1b8f2c4e-7a61-4f4d-9d7e-1c2a3b4c5d6e'],
      },
    );
  },
  'tenants in a column of numbers': (shop) => {
    const { orders } = shop.options();
    const trimmed = (tenant: string | null): string | null => tenant?.trim() ?? null;
    return shop.options(
      {
        find: (it, context) => orders.find(it, { ...context, tenant: trimmed(context.tenant) }),
        credit: (it, context) => orders.credit(it, { ...context, tenant: trimmed(context.tenant) }),
      },
      { tenants: ['1', '2'] },
    );
  },
  'a find that refuses an unknown tenant': (shop) => {
    const { orders } = shop.options();
    const check = (tenant: string | null): void => {
      if (tenant !== 'a' && tenant !== 'b') throw new Error('no such tenant');
    };
    return shop.options(
      {
        find(it, context) {
          check(context.tenant);
          return orders.find(it, context);
        },
        credit(payment, context) {
          check(context.tenant);
          return orders.credit(payment, context);
        },
      },
      { tenants: ['a', 'b'] },
    );
  },
  'a shop of one currency, which it does not store': (shop) =>
    shop.options(
      { credit: (payment) => shop.update(dueFor(payment), { isPaid: true }) },
      { createOrder: (order) => shop.insert({ ...order, currency: 'XOF' }) },
    ),
  'a column without case that gives its own spelling': (shop) => {
    const lower = (it: string) => (row: Row) => row.reference.toLowerCase() === it.toLowerCase();
    return shop.options(
      { find: async (reference) => toOrder(await shop.select(lower(reference))) },
      {
        async createOrder(order) {
          if (await shop.select(lower(order.reference))) throw new Error('the key is not unique');
          await shop.insert(order);
        },
      },
    );
  },
  'an `unpaid` that leaves out young orders': (shop) => shop.options({ unpaid: () => [] }),
  'an `unpaid` that leaves out young orders, beside older ones': (shop) => {
    const old = Array.from({ length: 23 }, (_, index) => ({
      reference: `old-${index}`,
      amount: 1_500,
      currency: 'XOF',
      tenant: null,
      isPaid: false,
      isClosed: false,
      status: 'pending',
    }));
    shop.rows.push(...old);
    return shop.options({
      unpaid: () => shop.list((row) => !row.isPaid && row.reference.startsWith('old-')),
    });
  },
  'lists that stream': (shop) =>
    shop.options({
      async *unpaid() {
        yield* shop.list((row) => !row.isPaid);
      },
    }),
  'one row for each link, and an order that names its paid link': (shop) => {
    const orderOf = new Map<string, string>();
    const paidLink = new Map<string, string>();
    const keyOf = (reference: string): string => orderOf.get(reference) ?? reference;
    let count = 0;
    return shop.options(
      {
        async find(reference) {
          const order = toOrder(await shop.select(byReference(reference)));
          const link = paidLink.get(keyOf(reference));
          const closed = link !== undefined && link !== reference;
          return order && { ...order, paid: link === reference, closed };
        },
        async credit(payment) {
          const row = await shop.select(dueFor(payment));
          if (row === undefined || paidLink.has(keyOf(row.reference))) return 0;
          paidLink.set(keyOf(row.reference), row.reference);
          return 1;
        },
        unpaid: () => shop.list(({ reference }) => !paidLink.has(keyOf(reference))),
        paid: () => [...paidLink.values()],
      },
      {
        later: {
          async 'another link'(reference) {
            const first = shop.rows.find(byReference(reference))!;
            const next = `${reference}-link-${count++}`;
            await shop.insert({ ...first, reference: next });
            orderOf.set(next, keyOf(reference));
            return next;
          },
        },
      },
    );
  },
};

it.concurrent.each(Object.keys(right))(
  'accuses no %s',
  { tags: ['Q12', 'Q14', 'Q15', 'Q16', 'Q21'] },
  async (name) => {
    expect(await faultsOf(right[name]!(new Shop()))).toEqual([]);
  },
);
