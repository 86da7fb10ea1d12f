import { reconcile, type PaylinkClient } from '@paylink/client';
import type { PostgresStore } from '@paylink/postgres';
import type { Pool, PoolClient } from 'pg';

export interface Shop {
  readonly pool: Pool;
  readonly paylink: PaylinkClient;
  /** The webhook's own store, and its own credit. */
  readonly idempotency: PostgresStore<PoolClient>;
  readonly creditOrder: (tx: PoolClient, payment: { readonly reference: string; readonly amount?: number }) => Promise<boolean>;
}

/** Credits what was paid and never notified, and gives how many there were. Run it every few minutes, one at a time. */
export async function reconcileOrders({ pool, paylink, idempotency, creditOrder }: Shop): Promise<number> {
  const unpaid = await pool.query<{ reference: string }>(
    "SELECT reference FROM orders WHERE paid_at IS NULL AND created_at < now() - interval '10 minutes' ORDER BY created_at",
  );
  const { rows } = await pool.query<{ cursor: string | null }>('SELECT cursor FROM reconcile_cursor');
  const { credited, duplicates, errors, cursor } = await reconcile({
    client: paylink,
    references: unpaid.rows.map(({ reference }) => reference),
    idempotency,
    onSuccess: (payment, { tx }) => creditOrder(tx, payment),
    cursor: rows[0]?.cursor ?? undefined,
  });
  await pool.query('UPDATE reconcile_cursor SET cursor = $1', [cursor]);
  for (const { reference, error } of errors) console.error(reference, error);
  // Once is a race with the webhook. In every run it is a mark without a credit, which a person must look at.
  for (const reference of duplicates) console.warn(reference, 'was unpaid, and is marked as credited');
  return credited.length;
}
