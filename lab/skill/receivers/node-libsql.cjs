const { createServer } = require('node:http');
const Database = require('libsql');
const { createClient } = require('@paylink/client');
const { paymentWebhook } = require('@paylink/node');
const { createPayments } = require('@paylink/payments');

const db = new Database(process.env.DATABASE_FILE ?? 'shop.db', { timeout: 5_000 });
db.exec(`CREATE TABLE IF NOT EXISTS orders (
  reference TEXT PRIMARY KEY, amount INTEGER NOT NULL, currency TEXT NOT NULL,
  created_at TEXT NOT NULL DEFAULT CURRENT_TIMESTAMP, paid_at TEXT
)`);
const insert = db.prepare('INSERT INTO orders (reference, amount, currency) VALUES (?, ?, ?)');
const select = db.prepare('SELECT * FROM orders WHERE reference = ?');
const update = db.prepare(`UPDATE orders SET paid_at = CURRENT_TIMESTAMP
  WHERE reference = ? AND amount = ? AND currency = ? AND paid_at IS NULL`);

const createOrder = ({ reference, amount, currency }) => insert.run(reference, amount, currency);

const orders = {
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
const payments = createPayments({ client, orders });

const server = createServer(
  paymentWebhook({ secret: process.env.WEBHOOK_SECRET }, payments.receive),
);
// The schedule imports this file too, without a port.
if (process.env.PORT) server.listen(Number(process.env.PORT));

module.exports = { createOrder, orders, payments };
