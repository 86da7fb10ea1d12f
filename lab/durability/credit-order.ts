import { setTimeout as pause } from 'node:timers/promises';
import { WebhookError, type CreditResult } from '@paylink/payments';
import { creditOrder as recipe } from '../../examples/shop/src/credit-order.js';
import type { OrderPayment } from './service.js';

/** The part of `pg` that a pool and a client in a transaction share. */
export interface Queryable {
  query(
    sql: string,
    values?: unknown[],
  ): Promise<{ readonly rows: unknown[]; readonly rowCount: number | null }>;
}

export type Credit = (db: Queryable, payment: OrderPayment) => Promise<CreditResult>;

/** Credits on every call. */
export const insertCredit: Credit = async (db, { reference, amount }) => {
  const { rowCount } = await db.query('INSERT INTO credits (reference, amount) VALUES ($1, $2)', [
    reference,
    amount,
  ]);
  return rowCount;
};

/** Credits in the statement that marks the order as paid, so repeated calls credit once. */
export const creditWithOrder: Credit = async (db, { reference, amount }) => {
  const { rowCount } = await db.query(
    `WITH paid AS (UPDATE orders SET paid_at = now() WHERE reference = $1 AND paid_at IS NULL RETURNING reference)
     INSERT INTO credits (reference, amount) SELECT reference, $2 FROM paid`,
    [reference, amount],
  );
  return rowCount === 0 ? 'already_credited' : rowCount;
};

/** The documented recipe, with a row that the book counts. */
export const creditByRecipe: Credit = async (db, payment) => {
  const result = await recipe(db, payment);
  if (result !== 'already_credited') await insertCredit(db, payment);
  return result;
};

/**
 * The merchant's credit for every design: finds the order, credits it, and does other work before
 * and after, as a real shop updates its stock and sends mail.
 *
 * @param workMs the most milliseconds of each piece of other work, 0 for none
 */
export async function creditOrder(
  db: Queryable,
  payment: OrderPayment,
  workMs = 0,
  credit = insertCredit,
): Promise<CreditResult> {
  const { rows } = await db.query('SELECT amount FROM orders WHERE reference = $1', [
    payment.reference,
  ]);
  if (rows.length === 0) throw new WebhookError('unknown_order', { status: 503 });
  await otherWork(db, workMs);
  const result = await credit(db, payment);
  await otherWork(db, workMs);
  return result;
}

async function otherWork(db: Queryable, workMs: number): Promise<void> {
  if (workMs === 0) return;
  await pause(Math.random() * workMs);
  await db.query('SELECT count(*) FROM orders WHERE reference = $1', ['of-the-stock']);
}
