import type { Order, Orders, Payments } from '@paylink/payments';
import { Pool } from 'pg';
import { close as closePlain, orders as plain } from './pg.js';

const connectionString = process.env['DATABASE_URL'];
const pool = new Pool({ connectionString });
const reader = new Pool({ connectionString, max: 2 });
for (const each of [pool, reader]) each.on('error', ({ message }) => console.error(message));

export const orders: Orders = {
  ...plain,
  async find(reference) {
    const { rows } = await reader.query<Order>(
      `SELECT reference, amount, currency, paid_at IS NOT NULL AS paid,
        cancelled_at IS NOT NULL AS closed FROM orders WHERE reference = $1`,
      [reference],
    );
    return rows[0];
  },
  // Requires an open order, because you may cancel it while Paylink asks the service.
  async credit({ reference, amount, currency }) {
    const { rowCount } = await pool.query(
      `UPDATE orders SET paid_at = now()
        WHERE reference = $1 AND amount = $2 AND currency = $3 AND paid_at IS NULL
        AND cancelled_at IS NULL`,
      [reference, amount, currency],
    );
    return rowCount;
  },
};

/** Cancels an unpaid order. Returns false if it is paid, or if the service is unavailable. */
export async function cancelOrder(payments: Pick<Payments, 'settle'>, reference: string) {
  const { status } = await payments.settle(reference); // the customer may have paid
  if (status === 'paid' || status === 'unavailable') return false;
  const sql = 'UPDATE orders SET cancelled_at = now() WHERE reference = $1 AND paid_at IS NULL';
  return (await pool.query(sql, [reference])).rowCount === 1;
}

export const close = () => Promise.all([pool.end(), reader.end(), closePlain()]);
