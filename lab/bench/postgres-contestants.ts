/**
 * Webhooks that credit an order once: with a table of marks by hand, with createPayments, and with
 * the statements of createPayments alone.
 */
import { createPayments, type ConfirmedPayment, type Order } from '@paylink/payments';
import { paymentWebhook } from '@paylink/express';
import express, { type Express } from 'express';
import type { Pool } from 'pg';
import { isSigned } from './by-hand.js';
import { SECRET, URL_PATH } from './delivery.js';

export const CONTESTANTS = { byHand, payments, statements } satisfies Record<
  string,
  (pool: Pool) => Promise<Express>
>;
export type Contestant = keyof typeof CONTESTANTS;

const CREDIT = 'UPDATE orders SET credited = credited + 1 WHERE reference = $1';
const PAID = { amount: 129_900, currency: 'XOF' };

const ordersOn = (pool: Pool) => ({
  async find(reference: string) {
    const { rows } = await pool.query<Order>(
      'SELECT reference, amount, currency, paid_at IS NOT NULL AS paid FROM orders WHERE reference = $1',
      [reference],
    );
    return rows[0];
  },
  async credit({ reference, amount, currency }: ConfirmedPayment) {
    const { rowCount } = await pool.query(
      'UPDATE orders SET credited = credited + 1, paid_at = now() WHERE reference = $1 AND amount = $2 AND currency = $3 AND paid_at IS NULL',
      [reference, amount, currency],
    );
    return rowCount;
  },
});

/** Two reads and one conditional write, and a service that answers at once. */
async function payments(pool: Pool): Promise<Express> {
  const money = createPayments({
    client: { getPayment: async (reference) => ({ reference, status: 'success', ...PAID }) },
    orders: ordersOn(pool),
  });
  return express().post(URL_PATH, paymentWebhook({ secret: SECRET }, money.receive));
}

/** The same reads and the same write without createPayments: what is left to gain. */
async function statements(pool: Pool): Promise<Express> {
  const orders = ordersOn(pool);
  const credits = async ({ reference }: { readonly reference: string }): Promise<void> => {
    if ((await orders.find(reference))?.paid === true) return;
    await orders.credit({ reference, ...PAID });
    if ((await orders.find(reference))?.paid !== true) throw new Error('the order is not paid');
  };
  return express().post(URL_PATH, paymentWebhook({ secret: SECRET }, credits));
}

/** A careful developer's code: BEGIN, the mark, the credit, COMMIT. */
async function byHand(pool: Pool): Promise<Express> {
  await pool.query(
    'CREATE TABLE IF NOT EXISTS marks (key text PRIMARY KEY, done_at timestamptz NOT NULL ' +
      'DEFAULT now())',
  );

  async function creditOnce(reference: string): Promise<void> {
    const client = await pool.connect();
    try {
      await client.query('BEGIN');
      const mark = await client.query(
        'INSERT INTO marks (key) VALUES ($1) ON CONFLICT DO NOTHING',
        [`payment.succeeded:${reference}`],
      );
      if (mark.rowCount === 1) await client.query(CREDIT, [reference]);
      await client.query('COMMIT');
    } catch (error) {
      await client.query('ROLLBACK');
      throw error;
    } finally {
      client.release();
    }
  }

  return express().post(URL_PATH, express.raw({ type: '*/*' }), async (req, res) => {
    const body = req.body as Buffer;
    if (!isSigned(body, req.get('x-service-signature') ?? '', SECRET)) {
      res.status(401).json({ error: 'invalid_signature' });
      return;
    }
    const { reference } = JSON.parse(body.toString()) as { reference: string };
    if (req.get('x-service-event') === 'payment.succeeded') await creditOnce(reference);
    res.json({ received: true });
  });
}
