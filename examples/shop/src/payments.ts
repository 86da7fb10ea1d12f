import type { PaylinkClient } from '@paylink/client';
import { createPayments, type Orders, type Payments } from '@paylink/payments';
import type { Db } from './database.js';

interface Row {
  readonly reference: string;
  readonly amount: number;
  readonly currency: string;
  readonly paid_at: string | null;
}

/** Creates the three ways to a credit: the webhook, the order's page and the schedule. */
export function openPayments(client: PaylinkClient, orders: Orders): Payments {
  return createPayments({ client, orders });
}

/** The two functions that Paylink needs, and `unpaid` for the schedule. */
export function ordersIn(db: Db): Orders {
  const find = db.prepare(
    'SELECT reference, amount, currency, paid_at FROM orders WHERE reference = ?',
  );
  const pay = db.prepare(`UPDATE orders SET paid_at = CURRENT_TIMESTAMP
    WHERE reference = ? AND amount = ? AND currency = ? AND paid_at IS NULL`);
  const book = db.prepare('INSERT INTO credits VALUES (?, ?, ?)');
  const unpaid = db.prepare(
    'SELECT reference FROM orders WHERE paid_at IS NULL ORDER BY created_at',
  );

  // The conditional write decides. The book of credits follows it, in the same transaction.
  const credit = db.transaction(
    (reference: string, amount: number, currency: string, by: string) => {
      const { changes } = pay.run(reference, amount, currency);
      if (changes > 0) book.run(reference, amount, by);
      return changes;
    },
  );

  return {
    find(reference) {
      const order = find.get(reference) as Row | undefined;
      return order && { ...order, paid: order.paid_at != null };
    },
    credit: ({ reference, amount, currency }, { source }) =>
      credit(reference, amount, currency, source),
    unpaid: () => (unpaid.all() as Row[]).map(({ reference }) => reference),
  };
}
