import './load-env.js';
import Database from 'libsql';
import type { Orders } from '@paylink/payments';

interface OrderRow {
  reference: string;
  amount: number;
  currency: string;
  paid_at: string | null;
}
const db = new Database(process.env['DATABASE_FILE'] ?? 'shop.db', { timeout: 5_000 });
db.exec('PRAGMA journal_mode = WAL');
const lastMonth = "created_at > datetime('now', '-30 days')";

export const orders: Orders = {
  find(reference) {
    const select = db.prepare('SELECT * FROM orders WHERE reference = ?');
    const order = select.get(reference) as OrderRow | undefined;
    return order && { ...order, paid: order.paid_at !== null };
  },
  credit({ reference, amount, currency }) {
    const update = db.prepare(
      `UPDATE orders SET paid_at = CURRENT_TIMESTAMP
        WHERE reference = ? AND amount = ? AND currency = ? AND paid_at IS NULL`,
    );
    return update.run(reference, amount, currency).changes;
  },
  unpaid: () => references('paid_at IS NULL'),
  paid: () => references('paid_at IS NOT NULL'),
};

function references(condition: string): string[] {
  const select = `SELECT reference FROM orders
    WHERE ${condition} AND ${lastMonth} ORDER BY created_at`;
  return (db.prepare(select).all() as OrderRow[]).map(({ reference }) => reference);
}

export const close = (): void => void db.close();

interface NewOrder {
  readonly reference: string;
  readonly amount: number;
  readonly currency: string;
}

/** Inserts an unpaid order. The checkout, the test and `paylink doctor` call it. */
export async function createOrder({ reference, amount, currency }: NewOrder): Promise<void> {
  db.prepare('INSERT INTO orders (reference, amount, currency) VALUES (?, ?, ?)').run(reference, amount, currency);
}

const TABLE = `CREATE TABLE IF NOT EXISTS orders (
  reference   text PRIMARY KEY NOT NULL, -- random, such as a UUID
  amount      integer NOT NULL,          -- in the smallest unit of the currency
  currency    text NOT NULL,
  created_at  text NOT NULL DEFAULT CURRENT_TIMESTAMP,
  paid_at     text,                      -- set once by the credit, and never reset
  refunded_at text                       -- a refund has a column of its own
);`;

/**
 * If your orders already have a table, delete this function and use your columns above. Set the
 * credit's column on orders that are already paid, or Paylink can credit them again.
 */
export async function createTable(): Promise<void> {
  db.exec(TABLE);
}
