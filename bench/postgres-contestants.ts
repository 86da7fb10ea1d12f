/** Webhooks that credit an order once, with the mark and the credit in one transaction. */
import { createHash } from 'node:crypto';
import { createPayments } from '@paylink/payments';
import { postgresStore } from '@paylink/postgres';
import { paymentWebhook } from '@paylink/express';
import express, { type Express } from 'express';
import { isSigned } from './by-hand.js';
import { SECRET, URL_PATH } from './delivery.js';
import type { Pool, PoolClient } from './postgres-pool.js';

export const CONTESTANTS = { byHand, least, paylink } satisfies Record<
  string,
  (pool: Pool) => Promise<Express>
>;
export type Contestant = keyof typeof CONTESTANTS;

const CREDIT = 'UPDATE orders SET credited = credited + 1 WHERE reference = $1';

async function paylink(pool: Pool): Promise<Express> {
  const store = postgresStore(pool);
  await store.migrate();
  const payments = createPayments({
    client: { getPayment: async (reference) => ({ reference, status: 'success' }) },
    store,
    credit: async ({ reference }, { tx }) => (await tx.query(CREDIT, [reference])).rowCount,
  });
  const webhook = paymentWebhook({ secret: SECRET }, payments);
  return express().post(URL_PATH, webhook);
}

/**
 * The statements of the store, sent by hand from a handler without one: the mark by its digest, the locks of its key and of its order's
 * turn, the limit for a transaction that is left open, and the number by which its end is known, prepared by each connection. No guard, no
 * limit, no look at what the handler wrote: what a store that promises as much to the database could reach at most.
 */
async function least(pool: Pool): Promise<Express> {
  await pool.query(
    'CREATE TABLE IF NOT EXISTS marks (key bytea PRIMARY KEY, done_at timestamptz NOT NULL DEFAULT now())',
  );
  const prepared = new WeakSet<PoolClient>();
  const prepare = `PREPARE claim (bytea, bigint, bigint) AS INSERT INTO marks (key) SELECT $1
WHERE pg_try_advisory_xact_lock($2) AND pg_try_advisory_xact_lock($3)
AND set_config('idle_in_transaction_session_timeout', '30000', true) IS NOT NULL
ON CONFLICT (key) DO NOTHING RETURNING pg_current_xact_id()::text AS transaction`;

  async function creditOnce(reference: string): Promise<void> {
    const digest = createHash('sha256').update(`payment.succeeded:${reference}`).digest('hex');
    const lock = (from: number): string =>
      BigInt.asIntN(64, BigInt(`0x${digest.slice(from, from + 16)}`)).toString();
    await transact(pool, async (client) => {
      if (!prepared.has(client)) await client.query(prepare);
      prepared.add(client);
      const [, claimed] = (await client.query(
        `BEGIN; EXECUTE claim('\\x${digest}', ${lock(0)}, ${lock(16)})`,
      )) as unknown as {
        rowCount: number;
      }[];
      if (claimed!.rowCount === 1) await client.query(CREDIT, [reference]);
    });
  }

  const webhook = paymentWebhook(
    { secret: SECRET },
    { 'payment.succeeded': ({ reference }) => creditOnce(reference) },
  );
  return express().post(URL_PATH, webhook);
}

/** Commits what the work has begun, in the way of both contestants by hand. It is what is measured, so it is no helper of the tests. */
async function transact(pool: Pool, work: (client: PoolClient) => Promise<void>): Promise<void> {
  const client = await pool.connect();
  try {
    await work(client);
    await client.query('COMMIT');
  } catch (error) {
    await client.query('ROLLBACK');
    throw error;
  } finally {
    client.release();
  }
}

/** What a careful developer writes: BEGIN, the mark, the credit, COMMIT. */
async function byHand(pool: Pool): Promise<Express> {
  await pool.query(
    'CREATE TABLE IF NOT EXISTS marks (key text PRIMARY KEY, done_at timestamptz NOT NULL DEFAULT now())',
  );

  async function creditOnce(reference: string): Promise<void> {
    await transact(pool, async (client) => {
      await client.query('BEGIN');
      const mark = await client.query(
        'INSERT INTO marks (key) VALUES ($1) ON CONFLICT DO NOTHING',
        [`payment.succeeded:${reference}`],
      );
      if (mark.rowCount === 1) await client.query(CREDIT, [reference]);
    });
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
