import { setTimeout as pause } from 'node:timers/promises';
import { WebhookError } from '@paylink/core';

/** What `pg` gives, as far as it is used here: a pool, or a client within a transaction. */
export interface Queryable {
  query(sql: string, values?: unknown[]): Promise<{ readonly rows: unknown[]; readonly rowCount: number | null }>;
}

/** The statement that credits an order. */
export type Credit = (db: Queryable, reference: string, amount: string) => Promise<unknown>;

/** Credits whatever it is called for. */
export const insertCredit: Credit = (db, reference, amount) =>
  db.query('INSERT INTO credits (reference, amount) VALUES ($1, $2)', [reference, amount]);

/** Credits the order in the statement that marks it as paid, and so once, whoever calls how often. */
export const creditWithOrder: Credit = (db, reference, amount) =>
  db.query(
    `WITH paid AS (UPDATE orders SET paid_at = now() WHERE reference = $1 AND paid_at IS NULL RETURNING reference)
     INSERT INTO credits (reference, amount) SELECT reference, $2 FROM paid`,
    [reference, amount],
  );

/**
 * The merchant's handler, the same under every design: reads the order's own amount, credits it, and has other work before and
 * after that, as a real shop has a stock to count and a mail to send.
 *
 * @param workMs how long each of the two pieces of other work takes at most, 0 for none
 */
export async function creditOrder(db: Queryable, reference: string, workMs = 0, credit = insertCredit): Promise<void> {
  const { rows } = await db.query('SELECT amount FROM orders WHERE reference = $1', [reference]);
  const [order] = rows as { readonly amount: string }[];
  if (order === undefined) throw new WebhookError('unknown_order', { status: 503 });
  await otherWork(db, workMs);
  await credit(db, reference, order.amount);
  await otherWork(db, workMs);
}

async function otherWork(db: Queryable, workMs: number): Promise<void> {
  if (workMs === 0) return;
  await pause(Math.random() * workMs);
  await db.query('SELECT count(*) FROM orders WHERE reference = $1', ['of-the-stock']);
}
