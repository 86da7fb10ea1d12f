/**
 * The right design, and fourteen mistakes that people make. `pnpm lab broken-designs` shows that
 * the simulation catches each of them.
 */
import type { PaylinkClient } from '@paylink/client';
import type { Order, Orders, Payments } from '@paylink/payments';
import type { Row } from './database.js';
import type { Shop } from './shop.js';

type MakeOrders = (right: Orders, shop: Shop) => Orders;

export interface Design {
  readonly what: string;
  /** What the merchant writes, instead of the right `orders`. */
  readonly orders?: MakeOrders;
  readonly client?: (
    right: PaylinkClient,
    shop: Shop,
    tenant: string | null,
  ) => Pick<PaylinkClient, 'getPayment'>;
  /** Another money half around the real one. */
  readonly payments?: (right: Payments, orders: Orders) => Partial<Payments>;
  /** A refund makes the order unpaid again. */
  readonly refundResets?: boolean;
}

/** A condition on the order's row, in place of the whole one. */
function creditWhere(
  condition: (row: Row, amount: number, currency: string, tenant: string | null) => boolean,
): MakeOrders {
  return (right, shop) => ({
    ...right,
    credit: ({ reference, amount, currency }, { tenant }) =>
      shop.write((row) => row.reference === reference && condition(row, amount, currency, tenant)),
  });
}

const isOf = (row: Row, tenant: string | null): boolean => row.tenant === tenant;

/** Looks first with `find`, then credits without a condition. */
function lookThenCredit(find: (right: Orders, shop: Shop) => Orders['find']): MakeOrders {
  return (right, shop) => {
    const look = find(right, shop);
    const credit: Orders['credit'] = async ({ reference }, context) => {
      const order = await look(reference, context);
      if (order?.paid !== false) return 0;
      const { tenant } = context;
      return shop.write((row) => isOf(row, tenant) && row.reference === reference);
    };
    return { ...right, credit };
  };
}

/** An order that agrees with whatever the service says. */
const accepting = (order: Order | null | undefined): Order | null | undefined =>
  order && { ...order, amount: { min: 1, max: Number.MAX_SAFE_INTEGER } };

export const RIGHT: Design = { what: 'one conditional write, and 200 only if the row says paid' };

export const BROKEN: Readonly<Record<string, Design>> = {
  'unconditional-credit': {
    what: 'credits without a condition on paid_at',
    orders: creditWhere((row, _amount, _currency, tenant) => isOf(row, tenant)),
  },
  'read-then-write': {
    what: 'reads that the order is unpaid, then credits',
    orders: lookThenCredit(
      (right) =>
        (...call) =>
          right.find(...call),
    ),
  },
  'replica-read': {
    what: 'reads paid_at on a replica, then credits on the primary',
    orders: lookThenCredit((right, shop) => async (reference, { tenant }) => {
      const { database } = shop.world;
      const row = await shop.call('find', () => database.read(tenant, reference, database.lag));
      return row && { ...row, paid: row.isPaid };
    }),
  },
  'status-condition': {
    what: "takes status = 'paid' for paid, so that a shipped order is unpaid",
    orders: (right, shop) => ({
      ...creditWhere(
        (row, _amount, _currency, tenant) =>
          isOf(row, tenant) && (row.paidAt === undefined || row.isShipped),
      )(right, shop),
      find: async (reference, context) => {
        const order = await right.find(reference, context);
        const isShipped = shop.world.database.row(context.tenant, reference)?.isShipped;
        return order && { ...order, paid: order.paid && isShipped !== true };
      },
    }),
  },
  'refund-resets-paid-at': { what: 'clears paid_at on a refund', refundResets: true },
  'no-tenant': {
    what: 'leaves the tenant out of the condition',
    orders: creditWhere(
      (row, amount, currency) =>
        row.amount === amount && row.currency === currency && row.paidAt === undefined,
    ),
  },
  'no-amount': {
    what: 'compares no amount',
    orders: (right, shop) => ({
      ...creditWhere(
        (row, _amount, _currency, tenant) => isOf(row, tenant) && row.paidAt === undefined,
      )(right, shop),
      find: async (...call) => accepting(await right.find(...call)),
    }),
  },
  'no-currency': {
    what: 'compares no currency',
    client: (right, shop, tenant) => ({
      getPayment: async (reference, options) => {
        const payment = await right.getPayment(reference, options);
        const { currency } = shop.world.database.row(tenant, reference) ?? payment;
        return { ...payment, currency };
      },
    }),
    orders: creditWhere(
      (row, amount, _currency, tenant) =>
        isOf(row, tenant) && row.amount === amount && row.paidAt === undefined,
    ),
  },
  'no-confirmation': {
    what: 'believes the notification, and does not ask the service',
    client: (_right, shop, tenant) => ({
      getPayment: async (reference) => {
        const { amount, currency } = shop.world.database.row(tenant, reference)!;
        return { reference, type: 'payment', status: 'success', amount, currency };
      },
    }),
  },
  'acknowledged-first': {
    what: 'acknowledges, then credits',
    payments: ({ receive }) => ({
      receive: async (event) => void receive(event).catch(() => undefined),
    }),
  },
  'error-acknowledged': {
    what: 'catches the error, logs it and acknowledges',
    payments: ({ receive }) => ({
      receive: (event, context) => receive(event, context).catch(() => undefined),
    }),
  },
  'count-trusted': {
    what: 'takes the count of `credit` for the credit, with a forgotten await',
    orders: (right) => {
      const counted = new Set<string>();
      return {
        ...right,
        credit: async (payment, context) => {
          void Promise.resolve(right.credit(payment, context)).catch(() => undefined);
          counted.add(`${context.tenant} ${payment.reference}`);
          return 1;
        },
        find: async (reference, context) => {
          const order = await right.find(reference, context);
          const isCounted = counted.has(`${context.tenant} ${reference}`);
          return order && { ...order, paid: order.paid || isCounted };
        },
      };
    },
  },
  'run-shared-between-tenants': {
    what: 'shares a run between the orders of two tenants with one reference',
    payments: ({ receive }) => {
      const running = new Map<string, Promise<void>>();
      return {
        receive: (event, context) => {
          const run = running.get(event.reference) ?? receive(event, context);
          running.set(event.reference, run);
          const end = (): boolean => running.delete(event.reference);
          run.then(end, end);
          return run;
        },
      };
    },
  },
  'page-silences-webhook': {
    what: "acknowledges a notification with the page's answer of the first try",
    payments: ({ receive, settle }) => {
      const failed = new Set<string>();
      return {
        settle: async (reference, options) => {
          const settled = await settle(reference, options);
          if (settled.status === 'failed') failed.add(`${options?.tenant} ${reference}`);
          return settled;
        },
        receive: async (event, context) => {
          if (!failed.has(`${event.tenant} ${event.reference}`)) await receive(event, context);
        },
      };
    },
  },
};
