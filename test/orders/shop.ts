/** A shop in memory. Its statements are atomic and take a turn of the event loop. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Order, Orders } from '@paylink/payments';
import type { Broken } from './faults.js';

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
export type Payment = Parameters<Orders['credit']>[0];

export class Shop {
  rows: Row[] = [];
  balance = 0;
  readonly receipts: string[] = [];

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

  list(where: Where): string[] {
    return this.rows.filter(where).map(({ reference }) => reference);
  }

  async insert(order: Parameters<Broken['createOrder']>[0]): Promise<void> {
    await nextTurn();
    if (this.rows.some((row) => row.reference === order.reference && row.tenant === order.tenant))
      throw new Error('the reference is not unique');
    this.rows.push({ ...order, isPaid: false, isClosed: false, status: 'pending' });
  }

  /** Right orders, and the options that go with them. */
  options(changes: Partial<Orders> = {}, options: Partial<Broken> = {}): Broken {
    return {
      orders: {
        find: async (reference, { tenant }) =>
          toOrder(await this.select((row) => row.reference === reference && row.tenant === tenant)),
        credit: (payment, { tenant }) => this.update(dueFor(payment, tenant), { isPaid: true }),
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
