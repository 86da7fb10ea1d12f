/**
 * A service on which every order is paid, over its own amount: the tests of this folder are about
 * the database.
 */
import type { PaymentClient, ServicePayment } from '@paylink/payments';

export interface OrderPayment extends ServicePayment {
  readonly amount?: number;
  readonly currency?: string;
}

/** The amount of the nth order of a Book. */
export function amountOf(number: number): number {
  return 1_000 + number;
}

export const paidService: PaymentClient<OrderPayment> = {
  async getPayment(reference) {
    const amount = amountOf(Number(reference.replace('order-', '')));
    return { reference, status: 'success', amount, currency: 'XOF' };
  },
};
