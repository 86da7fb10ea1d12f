import type { Orders } from '@paylink/payments';

/** A release of the shop whose `credit` the demo can break and repair. */
export interface Release {
  readonly orders: Orders;
  isBroken: boolean;
}

/** The broken release counts in cents. XOF has none, so its condition matches no order. */
export function releaseOf(orders: Orders): Release {
  const release: Release = {
    isBroken: false,
    orders: {
      ...orders,
      credit(payment, context) {
        const { amount } = payment;
        return orders.credit(
          release.isBroken ? { ...payment, amount: amount * 100 } : payment,
          context,
        );
      },
    },
  };
  return release;
}
