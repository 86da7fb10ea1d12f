/** Replaces the reader's own orders.ts, which pages import. */
import type { Orders } from '@paylink/payments';

export declare const orders: Orders;
export declare function createOrder(order: {
  reference: string;
  amount: number;
  currency: string;
}): Promise<void>;
