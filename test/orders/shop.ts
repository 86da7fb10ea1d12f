/** A shop in memory. Its statements are atomic and take a turn of the event loop. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Order, Orders } from '@paylink/payments';
import type { Broken, Make } from './faults.js';

export interface Row {
  readonly reference: string;
  readonly tenant: string | null;
  amount: number;
  currency: string;
  isPaid: boolean;
  isClosed: boolean;
  status: string;
}
type Where = (row: Row) => boolean;
export type Find = Orders['find'];
export type Credit = Orders['credit'];
export type Payment = Parameters<Credit>[0];

export const TENANTS = ['shop-a', 'shop-b'] as const;

export class Shop {
  rows: Row[] = [];
  balance = 0;
  readonly receipts: string[] = [];
  isUnique = true;

  async select(where: Where): Promise<Row | undefined> {
    await nextTurn();
    return this.rows.filter(where).map((row) => ({ ...row }))[0];
  }

  /** Returns the number of changed rows. */
  async update(where: Where, set: Partial<Row>): Promise<number> {
    await nextTurn();
    const rows = this.rows.filter(where);
    for (const row of rows) Object.assign(row, set);
    return rows.length;
  }

  pay(where: Where): Promise<number> {
    return this.update(where, { isPaid: true });
  }

  list(where: Where): string[] {
    return this.rows.filter(where).map(({ reference }) => reference);
  }

  async insert(order: Parameters<Broken['createOrder']>[0]): Promise<void> {
    await nextTurn();
    const isSame = (row: Row): boolean =>
      row.reference === order.reference && row.tenant === order.tenant;
    if (this.isUnique && this.rows.some(isSame)) throw new Error('the reference is not unique');
    this.rows.push({ ...order, isPaid: false, isClosed: false, status: 'pending' });
  }

  /** Right orders, and the options that go with them. */
  options(changes: Partial<Orders> = {}, options: Partial<Broken> = {}): Broken {
    return {
      orders: {
        find: async (reference, { tenant }) =>
          toOrder(await this.select((row) => row.reference === reference && row.tenant === tenant)),
        credit: (payment, { tenant }) => this.pay(dueFor(payment, tenant)),
        unpaid: ({ tenant }) => this.list((row) => !row.isPaid && row.tenant === tenant),
        paid: ({ tenant }) => this.list((row) => row.isPaid && row.tenant === tenant),
        ...changes,
      },
      createOrder: (order) => this.insert(order),
      ...options,
    };
  }

  later(name: string, set: Partial<Row>, where: Where = () => true): Partial<Broken> {
    const change = (reference: string): unknown =>
      this.update((row) => row.reference === reference && where(row), set);
    return { later: { [name]: change } };
  }
}

export const toOrder = (row: Row | undefined): Order | undefined =>
  row && {
    reference: row.reference,
    amount: row.amount,
    currency: row.currency,
    paid: row.isPaid,
    closed: row.isClosed,
  };

export const byReference =
  (reference: string): Where =>
  (row) =>
    row.reference === reference;

export const isOf =
  ({ reference, amount, currency }: Payment, tenant: string | null = null): Where =>
  (row) =>
    row.reference === reference &&
    row.amount === amount &&
    row.currency === currency &&
    row.tenant === tenant;

/** The whole condition of a credit. */
export const dueFor =
  (payment: Payment, tenant: string | null = null): Where =>
  (row) =>
    isOf(payment, tenant)(row) && !row.isPaid && !row.isClosed;

export const withFind =
  (find: (shop: Shop) => Find, options?: Partial<Broken>): Make =>
  (shop) =>
    shop.options({ find: find(shop) }, options);

export const withCredit =
  (credit: (shop: Shop) => Credit, options?: Partial<Broken>): Make =>
  (shop) =>
    shop.options({ credit: credit(shop) }, options);

/** Orders whose write has another condition. */
export const payingIf = (
  isDue: (row: Row, payment: Payment, context: Parameters<Credit>[1]) => boolean,
  options?: Partial<Broken>,
): Make =>
  withCredit(
    (shop) => (payment, context) => shop.pay((row) => isDue(row, payment, context)),
    options,
  );

/** Orders whose credit does more after its write, and tells a count. */
export const crediting = (
  more: (shop: Shop, count: number, payment: Payment) => ReturnType<Credit>,
): Make =>
  withCredit((shop) => async (payment) => more(shop, await shop.pay(dueFor(payment)), payment));

/** Orders whose find changes what it has read. */
export const finding =
  (change: (order: Order) => Order): Make =>
  (shop) => {
    const { orders } = shop.options();
    return withFind(() => async (...call) => {
      const order = await orders.find(...call);
      return order && change(order);
    })(shop);
  };

export const withTenants =
  (
    isSame: (stored: string | null, asked: string | null) => boolean,
    tenants: readonly [string, string] = TENANTS,
  ): Make =>
  (shop) =>
    shop.options(
      {
        find: async (reference, { tenant }) =>
          toOrder(
            await shop.select((row) => row.reference === reference && isSame(row.tenant, tenant)),
          ),
        credit: (payment, { tenant }) =>
          shop.pay((row) => isSame(row.tenant, tenant) && dueFor(payment, row.tenant)(row)),
      },
      { tenants },
    );

/** Orders of a free amount. */
export const free =
  (
    isDue: (row: Row, amount: number) => boolean,
    boundsOf = (amount: number) => ({ min: 1, max: amount * 2 }),
  ): Make =>
  (shop) => {
    const change = (order: Order): Order => ({ ...order, amount: boundsOf(Number(order.amount)) });
    const { orders } = finding(change)(shop);
    return shop.options({
      find: (...call) => orders.find(...call),
      credit: ({ amount, ...payment }) =>
        shop.pay((row) => dueFor({ ...payment, amount: row.amount })(row) && isDue(row, amount)),
    });
  };

/** Orders whose state is one column. `later` names what sets it, from any status or from one. */
export const byStatus =
  (
    paid: readonly string[],
    isDue: (status: string) => boolean,
    later: Readonly<Record<string, readonly [to: string, from?: string]>>,
    closed?: string,
  ): Make =>
  (shop) =>
    shop.options(
      {
        async find(reference) {
          const row = await shop.select(byReference(reference));
          const order = toOrder(row);
          const { status } = row ?? {};
          return order && { ...order, paid: paid.includes(status!), closed: status === closed };
        },
        credit: (payment) =>
          shop.update((row) => isOf(payment)(row) && isDue(row.status), { status: 'paid' }),
        unpaid: () => shop.list(({ status }) => isDue(status)),
        paid: () => shop.list(({ status }) => paid.includes(status)),
      },
      {
        later: Object.fromEntries(
          Object.entries(later).map(([name, [to, from]]) => [
            name,
            (reference: string) =>
              shop.update(
                (row) => row.reference === reference && row.status === (from ?? row.status),
                { status: to },
              ),
          ]),
        ),
      },
    );

/** Orders with a wallet and receipts, which each credit moves. */
export const wallet =
  (
    add: (shop: Shop, payment: Payment, count: number) => unknown = addOnce,
    total: (shop: Shop) => ReturnType<NonNullable<Broken['total']>> = ({ balance }) => balance,
  ): Make =>
  (shop) => ({
    ...crediting(async (_, count, payment) => {
      await add(shop, payment, count);
      return count;
    })(shop),
    total: () => total(shop),
    effects: (reference) => shop.receipts.filter((it) => it === reference).length,
  });

export function addOnce(shop: Shop, { amount, reference }: Payment, count: number): void {
  if (count !== 1) return;
  shop.balance += amount;
  shop.receipts.push(reference);
}

/** Attempts of one order: each link is a row, and `orderOf` names their order. */
export function attempts(
  changes: (shop: Shop, orderOf: (reference: string) => string) => Partial<Orders>,
): Make {
  return (shop) => {
    const orders = new Map<string, string>();
    const orderOf = (reference: string): string => orders.get(reference) ?? reference;
    let count = 0;
    return shop.options(changes(shop, orderOf), {
      later: {
        async 'another link'(reference) {
          const first = shop.rows.find(byReference(reference))!;
          const next = `${reference}-link-${count++}`;
          await shop.insert({ ...first, reference: next });
          orders.set(next, orderOf(reference));
          return next;
        },
      },
    });
  };
}
