import { ConfigurationError } from '@paylink/core';
import { createLogger, isProduction, validateOptions } from '@paylink/core/internal';
import type { Order, Orders } from './contract.js';
import { checkOrder, differenceOf, keyOf } from './order.js';

export type NewOrder = Omit<Order, 'paid'> & {
  /** The merchant to which the order belongs. Default: `null`, for a single merchant. */
  readonly tenant?: string | null | undefined;
};

const NAMES = ['reference', 'amount', 'currency', 'closed', 'tenant'];

/** Creates in-memory orders for tests and demonstrations. Logs a warning in production. */
export function memoryOrders(): {
  readonly orders: Required<Orders>;
  /**
   * Adds an unpaid order.
   *
   * @throws ConfigurationError for an unknown field or a second order with this reference
   * @throws WebhookError `invalid_order` for an invalid `amount`, `currency` or `closed`
   */
  readonly add: (order: NewOrder) => void;
} {
  if (isProduction()) {
    createLogger().warn(
      '[paylink] memoryOrders() is not for production: a restart loses its orders',
    );
  }
  const stored = new Map<string, Order & { readonly tenant: string | null }>();
  const listed = (tenant: string | null, isPaid: boolean): string[] =>
    [...stored.values()]
      .filter((order) => order.tenant === tenant && order.paid === isPaid)
      .map(({ reference }) => reference);
  return {
    orders: {
      find: async (reference, { tenant }) => stored.get(keyOf({ tenant, reference })),
      credit: async (payment, { tenant }) => {
        const key = keyOf({ tenant, reference: payment.reference });
        const order = stored.get(key);
        if (order === undefined || order.paid || order.closed === true) return 0;
        if (differenceOf(checkOrder(order), payment) !== undefined) return 0;
        stored.set(key, { ...order, paid: true });
        return 1;
      },
      unpaid: ({ tenant }) => listed(tenant, false),
      paid: ({ tenant }) => listed(tenant, true),
    },
    add(order) {
      const { tenant = null, ...rest } = validateOptions(order, NAMES, 'order');
      const added = { ...rest, tenant, paid: false };
      checkOrder(added);
      const key = keyOf(added);
      if (stored.has(key)) throw new ConfigurationError('reference', 'has an order already');
      stored.set(key, added);
    },
  };
}
