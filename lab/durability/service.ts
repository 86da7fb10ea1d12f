/**
 * A service that reports every order as paid, with its own amount: these tests concern the
 * database.
 */
import type { PaymentClient } from '@paylink/payments';

export interface OrderPayment {
  readonly reference: string;
  readonly status: string;
  readonly amount?: number;
  readonly currency?: string;
}

/** Returns the amount of a Book's nth order. */
export function amountOf(number: number): number {
  return 1_000 + number;
}

export const paidService: PaymentClient<OrderPayment> = {
  async getPayment(reference) {
    const amount = amountOf(Number(reference.replace('order-', '')));
    return { reference, status: 'success', amount, currency: 'XOF' };
  },
};
