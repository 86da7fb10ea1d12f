import type { PGliteInterface } from '@electric-sql/pglite';
import type { PaylinkClient } from '@paylink/client';
import { createPayments, type Inbox, type Payments } from '@paylink/payments';
import { postgresStore } from '@paylink/postgres';
import { bookCredit } from './orders.js';

/**
 * Makes the one place that says how an order is credited. The webhook, the order's page and the
 * schedule share it, so no order is credited twice.
 */
export async function openPayments(
  db: PGliteInterface,
  client: PaylinkClient,
): Promise<{ readonly payments: Payments; readonly inbox: Inbox }> {
  const store = postgresStore(db, { inbox: true });
  await store.migrate();
  const payments = createPayments({
    client,
    store,
    credit: (payment, { tx, source }) => bookCredit(tx, payment, source),
  });
  return { payments, inbox: store.inbox! };
}
