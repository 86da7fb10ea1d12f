/** The exports of a merchant's module, which has the orders and the faults of a test. */
import { setTimeout as pause } from 'node:timers/promises';
import { createClient } from '@paylink/client';
import { createPayments, type Order, type Orders } from '@paylink/payments';

export interface Row extends Omit<Order, 'amount'> {
  readonly amount: unknown;
  readonly tenant?: string;
}

export interface Shop {
  readonly rows: readonly Row[];
  readonly find?: 'throws' | 'throws for acme' | 'cannot connect' | 'ignores case';
  readonly credit?: 'changes no row' | 'throws';
  /** The only currency that `createOrder` stores. */
  readonly currency?: string;
  readonly lists?: 'none' | 'hang' | 'throw';
  readonly isLoud?: boolean;
  /** Several merchants, with a client each. */
  readonly isForMany?: boolean;
  /** Milliseconds after which a run has failed. */
  readonly timeout?: number;
  /** `close` writes a line to stderr. */
  readonly saysClosed?: boolean;
}

/** Connects to the service that the environment names. */
export function createShop(shop: Shop) {
  const rows = shop.rows.map((row) => ({ tenant: null, ...row }));

  const listed = async (tenant: string | null, isPaid: boolean): Promise<string[]> => {
    if (shop.lists === 'throw') throw new Error('the connection broke\nin the middle');
    if (shop.lists === 'hang') {
      if (shop.isLoud === true) console.log('reads the list');
      await pause(3_600_000);
    }
    return rows
      .filter((row) => row.tenant === tenant && row.paid === isPaid)
      .map(({ reference }) => reference);
  };

  const orders: Orders = {
    async find(reference, { tenant }) {
      if (shop.find === 'throws' || (shop.find === 'throws for acme' && tenant === 'acme'))
        throw new Error('column "referense" does not exist');
      if (shop.find === 'cannot connect') {
        const cause = Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' });
        throw cause;
      }
      const wanted = shop.find === 'ignores case' ? reference.toLowerCase() : reference;
      return rows.find((row) => row.tenant === tenant && row.reference === wanted) as Order;
    },
    async credit({ reference, amount, currency }, { tenant }) {
      if (shop.credit === 'throws') throw new Error('no such column: paid_att');
      const due = rows.filter(
        (row) =>
          row.tenant === tenant &&
          row.reference === reference &&
          row.amount === amount &&
          row.currency === currency &&
          !row.paid,
      );
      if (shop.credit === 'changes no row') return 0;
      for (const row of due) Object.assign(row, { paid: true });
      return due.length;
    },
    ...(shop.lists === 'none'
      ? {}
      : {
          unpaid: ({ tenant }) => listed(tenant, false),
          paid: ({ tenant }) => listed(tenant, true),
        }),
  };

  const connect = (tenant: string | null = null) =>
    createClient({
      baseUrl: process.env['PAYLINK_BASE_URL'],
      apiKey: tenant === 'refused' ? 'sk_live_another.abf7158809' : process.env['PAYLINK_API_KEY'],
      retries: 0,
    });

  const payments = createPayments({
    // A client has the key of one merchant.
    client: shop.isForMany === true ? connect : connect(),
    orders,
    timeout: shop.timeout,
  });

  const createOrder = async (order: Row): Promise<void> => {
    if ((shop.currency ?? order.currency) !== order.currency) throw new Error('one currency');
    if (
      rows.some(({ reference, tenant }) => reference === order.reference && tenant === order.tenant)
    )
      throw new Error('this reference has an order');
    rows.push({ tenant: null, closed: false, ...order, paid: false });
  };

  const close = (): void => {
    if (shop.saysClosed === true) console.error('closed');
  };

  return { payments, orders, createOrder, close };
}
