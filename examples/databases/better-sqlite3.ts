import Database from 'better-sqlite3';
import type { Orders } from '@paylink/payments';

interface OrderRow {
  reference: string;
  amount: number;
  currency: string;
  paid_at: string | null;
}
const db = new Database(process.env['DATABASE_FILE'] ?? 'shop.db', { timeout: 5_000 });
db.exec('PRAGMA journal_mode = WAL');
db.exec('PRAGMA synchronous = FULL'); // or a power failure can lose a committed credit
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
