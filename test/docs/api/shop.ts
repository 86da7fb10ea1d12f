/** The names that the examples of the reference import from a shop. */
import type { Orders, Payments } from '@paylink/payments';

export declare const payments: Payments;
export declare const orders: Orders & { find(reference: string): Promise<unknown> };
export declare const createOrder: (order: {
  readonly reference: string;
  readonly amount: number;
  readonly currency: string;
  readonly tenant: string | null;
}) => Promise<void>;
export declare function merchantAt(
  name: string,
): Promise<{ readonly id: string; readonly webhookSecret: string }>;
