import { WebhookError } from '@paylink/payments';

/** A payment that the service has confirmed. */
export interface Payment {
  readonly reference: string;
  readonly status: string;
  readonly amount?: number;
  readonly currency?: string;
}

interface Order {
  readonly amount: number;
  readonly currency: string;
  readonly paidAt: Date | null;
}

/**
 * The checks of the recipe in examples/shop/src/credit-order.ts. Read the order with FOR UPDATE.
 * Returns whether the order is still to be credited.
 */
export function isDue(order: Order | undefined, { amount, currency }: Payment): boolean {
  if (order === undefined) throw new WebhookError('unknown_order', { status: 503 });
  if (order.paidAt !== null) return false;
  if (amount !== order.amount || currency !== order.currency) {
    throw new WebhookError('amount_differs', { status: 409 });
  }
  return true;
}
