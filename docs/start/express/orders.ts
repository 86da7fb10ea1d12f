import type { Orders } from '@paylink/payments';
import Database from 'libsql';

type NewOrder = { reference: string; amount: number; currency: string };
type Row = NewOrder & { paid_at: string | null };

const db = new Database(process.env.DATABASE_FILE ?? 'shop.db', { timeout: 5_000 });
db.exec(`CREATE TABLE IF NOT EXISTS orders (
  reference TEXT PRIMARY KEY,
  amount INTEGER NOT NULL,
  currency TEXT NOT NULL,
  created_at TEXT NOT NULL DEFAULT CURRENT_TIMESTAMP,
  paid_at TEXT
)`);
const insert = db.prepare('INSERT INTO orders (reference, amount, currency) VALUES (?, ?, ?)');
const find = db.prepare('SELECT * FROM orders WHERE reference = ?');
const credit = db.prepare(`UPDATE orders SET paid_at = CURRENT_TIMESTAMP
  WHERE reference = ? AND amount = ? AND currency = ? AND paid_at IS NULL`);
const listed = (condition: string) =>
  db.prepare(`SELECT reference FROM orders WHERE ${condition}
    AND created_at > datetime('now', '-30 days') ORDER BY created_at`);
const [unpaid, paid] = [listed('paid_at IS NULL'), listed('paid_at IS NOT NULL')];
const references = (rows: unknown[]) => (rows as Row[]).map(({ reference }) => reference);

export async function createOrder({ reference, amount, currency }: NewOrder): Promise<void> {
  insert.run(reference, amount, currency);
}

export const orders: Orders = {
  find(reference) {
    const order = find.get(reference) as Row | undefined;
    return order && { ...order, paid: order.paid_at != null };
  },
  credit: ({ reference, amount, currency }) => credit.run(reference, amount, currency).changes,
  unpaid: () => references(unpaid.all()),
  paid: () => references(paid.all()),
};
