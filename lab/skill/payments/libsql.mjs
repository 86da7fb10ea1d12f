import Database from 'libsql';
import { createClient } from '@paylink/client';
import { createPayments } from '@paylink/payments';

const db = new Database(process.env.DATABASE_FILE ?? 'shop.db', { timeout: 5_000 });
db.exec(`CREATE TABLE IF NOT EXISTS orders (
  reference TEXT PRIMARY KEY, amount INTEGER NOT NULL, currency TEXT NOT NULL,
  created_at TEXT NOT NULL DEFAULT CURRENT_TIMESTAMP, paid_at TEXT
)`);
const insert = db.prepare('INSERT INTO orders (reference, amount, currency) VALUES (?, ?, ?)');
const select = db.prepare('SELECT * FROM orders WHERE reference = ?');
const update = db.prepare(`UPDATE orders SET paid_at = CURRENT_TIMESTAMP
  WHERE reference = ? AND amount = ? AND currency = ? AND paid_at IS NULL`);

export const createOrder = ({ reference, amount, currency }) =>
  insert.run(reference, amount, currency);

export const orders = {
  find(reference) {
    const order = select.get(reference);
    return order && { ...order, paid: order.paid_at != null };
  },
  credit: ({ reference, amount, currency }) => update.run(reference, amount, currency).changes,
};

const client = createClient({
  baseUrl: process.env.PAYLINK_BASE_URL,
  apiKey: process.env.PAYLINK_API_KEY,
});
export const payments = createPayments({ client, orders });
