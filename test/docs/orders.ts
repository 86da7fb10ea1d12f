/** Replaces the reader's own orders.ts, which pages import. */
import type { Orders } from '@paylink/payments';

export declare const orders: Orders;
export declare function insertOrder(
  reference: string,
  amount: number,
  currency: string,
): Promise<void>;
