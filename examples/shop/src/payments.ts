import type { PaylinkClient } from '@paylink/client';
import { createPayments, type Orders, type Payments } from '@paylink/payments';
import type { Db } from './database.js';

interface Row {
  readonly reference: string;
  readonly amount: number;
  readonly currency: string;
  readonly paid_reference: string | null;
}

/** One row for each link: a customer who tries again gets a link of its own. */
const LINKS = 'attempts JOIN orders ON id = order_id';

/** Creates the three ways to a credit: the webhook, the order's page and the schedule. */
export function openPayments(client: PaylinkClient, orders: Orders): Payments {
  return createPayments({ client, orders });
}

/** The two functions that Paylink needs, `unpaid` for the schedule, and `paid` for `verify`. */
export function ordersIn(db: Db): Orders {
  const find = db.prepare(
    `SELECT reference, amount, currency, paid_reference FROM ${LINKS} WHERE reference = ?`,
  );
  const pay = db.prepare(`UPDATE orders SET paid_reference = ?
    WHERE id = (SELECT order_id FROM attempts WHERE reference = ?)
      AND amount = ? AND currency = ? AND paid_reference IS NULL`);
  const book = db.prepare('INSERT INTO credits VALUES (?, ?, ?)');
  const list = (condition: string): (() => string[]) => {
    const since = "attempts.created_at > datetime('now', '-30 days')";
    const select = db.prepare(
      `SELECT reference FROM ${LINKS} WHERE ${condition} AND ${since} ORDER BY attempts.created_at`,
    );
    return () => (select.all() as Row[]).map(({ reference }) => reference);
  };

  // The conditional write decides. The book of credits follows it, in the same transaction.
  const credit = db.transaction(
    (reference: string, amount: number, currency: string, by: string) => {
      const { changes } = pay.run(reference, reference, amount, currency);
      if (changes > 0) book.run(reference, amount, by);
      return changes;
    },
  );

  return {
    // Paid is the link that paid_reference names. The other links of a paid order are closed.
    find(reference) {
      const link = find.get(reference) as Row | undefined;
      if (link === undefined) return undefined;
      const paid = link.paid_reference === link.reference;
      return { ...link, paid, closed: link.paid_reference !== null && !paid };
    },
    credit: ({ reference, amount, currency }, { source }) =>
      credit(reference, amount, currency, source),
    // Also the other links of paid orders: reconcile lists a second payment as undecided.
    unpaid: list('paid_reference IS NOT reference'),
    paid: list('paid_reference = reference'),
  };
}
