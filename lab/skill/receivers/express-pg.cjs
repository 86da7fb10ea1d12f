const express = require('express');
const { Pool } = require('pg');
const { createClient } = require('@paylink/client');
const { paymentWebhook } = require('@paylink/express');
const { createPayments } = require('@paylink/payments');

const connectionString = process.env.DATABASE_URL;
const pool = new Pool({ connectionString });
const reader = new Pool({ connectionString, max: 2 });

const createOrder = ({ reference, amount, currency }) =>
  pool.query('INSERT INTO orders (reference, amount, currency) VALUES ($1, $2, $3)', [
    reference,
    amount,
    currency,
  ]);

const orders = {
  async find(reference) {
    const { rows } = await reader.query(
      `SELECT reference, amount, currency, paid_at IS NOT NULL AS paid
        FROM orders WHERE reference = $1`,
      [reference],
    );
    return rows[0];
  },
  async credit({ reference, amount, currency }) {
    const { rowCount } = await pool.query(
      `UPDATE orders SET paid_at = now()
        WHERE reference = $1 AND amount = $2 AND currency = $3 AND paid_at IS NULL`,
      [reference, amount, currency],
    );
    return rowCount;
  },
};

const client = createClient({
  baseUrl: process.env.PAYLINK_BASE_URL,
  apiKey: process.env.PAYLINK_API_KEY,
});
const payments = createPayments({ client, orders });

const app = express();
app.post(
  '/webhooks/payments',
  paymentWebhook({ secret: process.env.WEBHOOK_SECRET }, payments.receive),
);
app.use(express.json());
app.get('/orders/:reference', async (req, res) => {
  res.json({ status: (await payments.settle(req.params.reference)).status });
});
// The schedule imports this file too, without a port.
if (process.env.PORT) app.listen(Number(process.env.PORT));

module.exports = { createOrder, orders, payments };
