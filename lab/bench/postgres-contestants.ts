/** Webhooks that credit an order once, with the mark and the credit in one transaction. */
import { createPayments, identify } from '@paylink/payments';
import { postgresStore } from '@paylink/postgres';
import { paymentWebhook } from '@paylink/express';
import express, { type Express } from 'express';
import { isSigned } from './by-hand.js';
import { SECRET, URL_PATH } from './delivery.js';
import type { Pool } from './postgres-pool.js';

export const CONTESTANTS = { byHand, store, payments } satisfies Record<
  string,
  (pool: Pool) => Promise<Express>
>;
export type Contestant = keyof typeof CONTESTANTS;

const CREDIT = 'UPDATE orders SET credited = credited + 1 WHERE reference = $1';

/** The store alone: like the hand-written code, without asking the service. */
async function store(pool: Pool): Promise<Express> {
  const marks = await migrated(pool);
  const webhook = paymentWebhook(
    { secret: SECRET },
    {
      'payment.succeeded': async ({ type, reference }, { signal }) => {
        const { key, turn } = await identify({ kind: type, reference });
        const credit = async (tx: Pick<Pool, 'query'>): Promise<void> => {
          await tx.query(CREDIT, [reference]);
        };
        await marks.run(key, credit, { signal, turn });
      },
    },
  );
  return express().post(URL_PATH, webhook);
}

/** All of it: looks for the mark, asks a service that answers at once, and credits. */
async function payments(pool: Pool): Promise<Express> {
  const money = createPayments({
    client: { getPayment: async (reference) => ({ reference, status: 'success' }) },
    store: await migrated(pool),
    credit: async ({ reference }, { tx }) => (await tx.query(CREDIT, [reference])).rowCount,
  });
  return express().post(URL_PATH, paymentWebhook({ secret: SECRET }, money));
}

async function migrated(pool: Pool) {
  const marks = postgresStore(pool);
  await marks.migrate();
  return marks;
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
