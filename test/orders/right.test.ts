/** Right `orders` in memory, however unusual: none is accused. */
import { randomBytes } from 'node:crypto';
import type { Orders } from '@paylink/payments';
import { setTimeout as pause } from 'node:timers/promises';
import { expect, it, vi } from 'vitest';
import { faultsOf, type Broken, type Make } from './faults.js';
import {
  addOnce,
  attempts,
  byReference,
  byStatus,
  crediting,
  dueFor,
  finding,
  free,
  toOrder,
  wallet,
  withCredit,
  withTenants,
  type Credit,
  type Find,
  type Row,
  type Shop,
} from './shop.js';

vi.spyOn(console, 'warn').mockReturnValue(undefined);

/** Right orders with a wallet whose credit throws if it changes nothing, as some databases do. */
const throwing = (isThrown: (row: Row | undefined) => boolean): Make =>
  wallet((shop, payment, count) => {
    addOnce(shop, payment, count);
    const row = shop.rows.find(byReference(payment.reference));
    if (count === 0 && isThrown(row)) throw new Error('could not serialize access');
  });

/** Right orders of which each call checks its reference and its tenant first. */
const checking =
  (
    check: (reference: string, tenant: string | null) => unknown,
    options?: (shop: Shop) => Partial<Broken>,
  ): Make =>
  (shop) => {
    const { orders } = shop.options();
    return shop.options(
      {
        async find(reference, context) {
          check(reference, context.tenant);
          return orders.find(reference, context);
        },
        async credit(payment, context) {
          check(payment.reference, context.tenant);
          return orders.credit(payment, context);
        },
      },
      options?.(shop),
    );
  };

/** As a repository or a service of the merchant: its functions need `this`. */
class Repository implements Orders {
  readonly #orders: Orders;

  constructor(orders: Orders) {
    this.#orders = orders;
  }

  find(...args: Parameters<Find>) {
    return this.#orders.find(...args);
  }

  credit(...args: Parameters<Credit>) {
    return this.#orders.credit(...args);
  }

  unpaid(context: Parameters<Find>[1]) {
    return this.#orders.unpaid!(context);
  }

  paid(context: Parameters<Find>[1]) {
    return this.#orders.paid!(context);
  }
}

/** A shop that accepts references of one form alone, and refuses a search for another. */
const formed = (form: RegExp, reference?: () => string): Make => {
  const check = (it: string): void => {
    if (!form.test(it)) throw new Error('invalid input syntax');
  };
  return checking(check, (shop) => ({
    reference,
    async createOrder(order) {
      check(order.reference);
      await shop.insert(order);
    },
  }));
};

const later =
  (...change: Parameters<Shop['later']>): Make =>
  (shop) =>
    shop.options({}, shop.later(...change));

const isPending = (status: string): boolean => status === 'pending';
const PAID = ['paid', 'shipped', 'refunded'];
const UUIDS = [
  '0b8f2c4e-7a61-4f4d-9d7e-1c2a3b4c5d6e',
  '1b8f2c4e-7a61-4f4d-9d7e-1c2a3b4c5d6e',
] as const;
let number = 0;

const right: Record<string, Make> = {
  'the plain shop': (shop) => shop.options(),
  'a shop without lists': (shop) => {
    const { find, credit } = shop.options().orders;
    return { ...shop.options(), orders: { find, credit } };
  },
  'a bigint as the count': crediting((_, count) => BigInt(count)),
  'no count at all': crediting(() => null),
  'a trigger that is counted': crediting((_, count) => count * 2),
  'a cart of three rows': crediting((_, count) => count * 3),
  'a draft and a published row': crediting(async (shop, count, { reference }) =>
    count === 1 ? 1 + (await shop.update(byReference(reference), {})) : 0,
  ),
  'a second call that throws': throwing((row) => row?.isPaid === true),
  'a unique row of the payment, which throws for every payment that is not due': throwing(
    (row) => row !== undefined,
  ),
  'a lock of the row around a read and a write': (shop) => {
    let last: Promise<unknown> = Promise.resolve();
    return withCredit(() => (payment) => {
      const run = last.then(async () => {
        const row = await shop.select(dueFor(payment));
        return row === undefined ? 0 : shop.pay(byReference(payment.reference));
      });
      last = run;
      return run;
    })(shop);
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
  'integer columns that store each other text as 0': (shop) =>
    shop.options(
      {},
      {
        createOrder: (order) =>
          shop.insert({ ...order, reference: `${Number(order.reference) || 0}` }),
      },
    ),
  'UUID columns': formed(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/),
  'a status column with ship and refund': byStatus(PAID, isPending, {
    ship: ['shipped'],
    refund: ['refunded'],
  }),
  'a status column with cancel, which closes': byStatus(
    PAID,
    isPending,
    { cancel: ['cancelled', 'pending'] },
    'cancelled',
  ),
  'a closed column that the write requires': later('expire', { isClosed: true }),
  'a closed column that is set on unpaid orders alone': later(
    'cancel',
    { isClosed: true },
    (row) => !row.isPaid,
  ),
  'an edit of the amount': later('edit', { amount: 2_000 }),
  'an edit of the currency': later('edit', { currency: 'XAF' }),
  'a refund that throws for unpaid orders': (shop) => {
    const refund = (reference: string): void => {
      if (!shop.rows.find(byReference(reference))!.isPaid) throw new Error('not paid');
    };
    return shop.options({}, { later: { refund } });
  },
  'a cancel that throws for paid orders': (shop) => {
    const cancel = async (reference: string): Promise<void> => {
      const isOpen = (row: Row): boolean => row.reference === reference && !row.isPaid;
      if ((await shop.update(isOpen, { isClosed: true })) === 0) throw new Error('is paid');
    };
    return shop.options({}, { later: { cancel } });
  },
  'a wallet': wallet(),
  'a debt that each credit lowers': wallet(addOnce, ({ balance }) => -balance),
  'a wallet whose total is text': wallet(addOnce, ({ balance }) => Promise.resolve(`${balance}`)),
  'a wallet in the major unit': wallet(addOnce, ({ balance }) => balance / 100),
  'a free amount': free(() => true),
  'a free amount within bounds that the write compares too': free((_, amount) => amount >= 1),
  'a free amount whose least is above some orders': free(
    () => true,
    () => ({ min: 500, max: 100_000_000_000 }),
  ),
  'a free amount in a column of 32 bits': (shop) => {
    const check = (amount: number): boolean => {
      if (amount > 2_147_483_647) throw new Error('integer out of range');
      return true;
    };
    const bounds = { min: 1, max: 100_000_000_000 };
    const options = free(
      (_, amount) => check(amount),
      () => bounds,
    )(shop);
    const createOrder: typeof options.createOrder = (order) =>
      check(order.amount) && options.createOrder(order);
    return { ...options, createOrder };
  },
  'a free amount whose bounds are one': free(
    () => true,
    (amount) => ({ min: 1, max: amount }),
  ),
  'amounts as bigint': finding((order) => ({ ...order, amount: BigInt(Number(order.amount)) })),
  'amounts as decimal text': finding((order) => ({
    ...order,
    amount: `${Number(order.amount)}.00`,
  })),
  'two tenants': withTenants((stored, asked) => stored === asked),
  'tenants that are UUIDs without case': withTenants(
    (stored, asked) => stored?.toLowerCase() === asked?.toLowerCase(),
    UUIDS,
  ),
  'tenants in a column of numbers': withTenants(
    (stored, asked) => stored === (asked?.trim() ?? null),
    ['1', '2'],
  ),
  'a find that refuses an unknown tenant': checking(
    (_, tenant) => {
      if (tenant !== 'a' && tenant !== 'b') throw new Error('no such tenant');
    },
    () => ({ tenants: ['a', 'b'] }),
  ),
  'a createOrder that returns the error of its client': (shop) =>
    shop.options(
      {},
      {
        createOrder: (order) =>
          order.amount < 100 ? { error: new Error('too small') } : shop.insert(order),
      },
    ),
  'a shop of one currency, which it does not store': (shop) =>
    shop.options({}, { createOrder: (order) => shop.insert({ ...order, currency: 'XOF' }) }),
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
  'an `unpaid` that leaves out young orders': (shop) =>
    shop.options({ unpaid: () => [] }, shop.later('edit', { amount: 2_000 })),
  'an `unpaid` that leaves out young orders, beside older ones': (shop) => {
    const old = { amount: 1_500, currency: 'XOF', tenant: null, isPaid: false, isClosed: false };
    for (let index = 0; index < 23; index++)
      shop.rows.push({ ...old, reference: `old-${index}`, status: 'pending' });
    return shop.options({
      unpaid: () => shop.list((row) => !row.isPaid && row.reference.startsWith('old-')),
    });
  },
  'an `unpaid` ordered by whole seconds, with the newest of one second first': (shop) => {
    const seconds = new Map<string, number>();
    return shop.options(
      {
        unpaid: () =>
          shop
            .list((row) => !row.isPaid)
            .reverse()
            .sort((one, other) => seconds.get(one)! - seconds.get(other)!),
      },
      {
        createOrder(order) {
          seconds.set(order.reference, Math.floor(Date.now() / 1_000));
          return shop.insert(order);
        },
      },
    );
  },
  'an object of a class': (shop) => {
    const options = shop.options();
    return { ...options, orders: new Repository(options.orders) };
  },
  'an `unpaid` that a busy database slows down once': (shop) => {
    let calls = 0;
    return shop.options({
      async *unpaid() {
        calls += 1;
        yield 'an-older-order';
        if (calls === 2) await pause(700);
        yield* shop.list((row) => !row.isPaid);
      },
    });
  },
  'lists that stream': (shop) =>
    shop.options({
      async *unpaid() {
        yield* shop.list((row) => !row.isPaid);
      },
    }),
  'one row for each link, and an order that names its paid link': attempts((shop, orderOf) => {
    const paidLink = new Map<string, string>();
    return {
      async find(reference) {
        const order = toOrder(await shop.select(byReference(reference)));
        const link = paidLink.get(orderOf(reference));
        const closed = link !== undefined && link !== reference;
        return order && { ...order, paid: link === reference, closed };
      },
      async credit(payment) {
        const row = await shop.select(dueFor(payment));
        if (row === undefined || paidLink.has(orderOf(row.reference))) return 0;
        paidLink.set(orderOf(row.reference), row.reference);
        return 1;
      },
      unpaid: () => shop.list(({ reference }) => !paidLink.has(orderOf(reference))),
      paid: () => [...paidLink.values()],
    };
  }),
};

it.concurrent.each(Object.keys(right))(
  'finds no fault in %s',
  { tags: ['Q12', 'Q14', 'Q15', 'Q16', 'Q21'] },
  async (name) => {
    expect(await faultsOf(right[name]!)).toEqual([]);
  },
);
