import type { HandlerMap, NoEvents } from '@paylink/core';
import { WebhookError } from '@paylink/core';
import type { Pool, PoolClient } from 'pg';

/** What the store adds to a handler's context: the transaction that holds the mark. */
export interface Transaction {
  readonly tx: PoolClient;
}

export type Handlers = HandlerMap<NoEvents, Transaction>;

/** What both workers run: the same as a webhook without a queue would. */
export const handlers: Handlers = {
  'payment.succeeded': async ({ reference }, { tx }) => {
    const { rowCount } = await tx.query('UPDATE orders SET paid_at = now(), credits = credits + 1 WHERE reference = $1', [
      reference,
    ]);
    // The order's row may not be committed yet: the job fails, and is tried again.
    if (rowCount === 0) throw new WebhookError('unknown_order', { status: 503 });
  },
};

export async function createOrders(pool: Pool): Promise<void> {
  await pool.query('CREATE TABLE IF NOT EXISTS orders (reference text PRIMARY KEY, paid_at timestamptz, credits int DEFAULT 0)');
}
