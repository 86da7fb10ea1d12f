// credit-order.ts
import { WebhookError } from '@paylink/core';

interface Payment {
  readonly reference: string;
  readonly amount?: number;
}

interface Order {
  readonly amount: number | string; // a string where pg reads bigint or numeric
  readonly paid_at: Date | null;
}

/** Whether the order of a confirmed payment is still to be credited. Read the order with FOR UPDATE. */
export function isDue(order: Order | undefined, { reference, amount }: Payment): boolean {
  // 503: its row may not be committed yet. Nothing is marked, so the next delivery or reconcile credits it.
  if (order === undefined) throw new WebhookError('unknown_order', { status: 503 });
  if (amount !== Number(order.amount)) {
    console.error(`order ${reference} is not credited: ${amount} was paid, the order says ${order.amount}`);
    // 409: the order was changed after its link was created. A retry does not help: a person must decide.
    throw new WebhookError('amount_differs', { status: 409 });
  }
  return order.paid_at === null;
}

/**
 * Credits the order of a confirmed payment once: in the webhook's handler, and as `onSuccess` of reconcile.
 * Insert the order, with its amount, before you create its payment link.
 */
export async function creditOrder(
  tx: { query(sql: string, values: string[]): Promise<{ rows: Order[] }> },
  payment: Payment,
): Promise<boolean> {
  const { reference } = payment;
  const { rows } = await tx.query('SELECT amount, paid_at FROM orders WHERE reference = $1 FOR UPDATE', [reference]);
  if (!isDue(rows[0], payment)) return false;
  await tx.query('UPDATE orders SET paid_at = now() WHERE reference = $1', [reference]);
  return true;
}
