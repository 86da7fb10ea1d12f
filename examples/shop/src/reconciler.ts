import { setTimeout as sleep } from 'node:timers/promises';
import type { Transaction } from '@electric-sql/pglite';
import { reconcile, type PaylinkClient } from '@paylink/client';
import type { IdempotencyStore } from '@paylink/core';
import { bookCredit, type Orders } from './orders.js';

export interface ReconcilerOptions {
  readonly orders: Orders;
  readonly paylink: PaylinkClient;
  /** The webhook's own, so that a notification that comes late finds the order done. */
  readonly idempotency: IdempotencyStore<{ readonly tx: Transaction }>;
  /** Milliseconds from the end of one round to the next. */
  readonly interval: number;
  /** Called for each order that was credited by asking. */
  readonly onCredit?: (reference: string) => void;
}

/** Asks the service about the unpaid orders, again and again: a notification may never come. Gives the way to stop it. */
export function startReconciler({ orders, paylink, idempotency, interval, onCredit }: ReconcilerOptions): () => Promise<void> {
  const stopping = new AbortController();
  const { signal } = stopping;

  const round = async (): Promise<void> => {
    const report = await reconcile({
      client: paylink,
      references: await orders.unpaid(),
      idempotency,
      onSuccess: (payment, { tx }) => bookCredit(tx, payment),
      signal,
    });
    for (const reference of report.credited) onCredit?.(reference);
    for (const { reference, error } of report.errors) console.error(`[shop] ${reference} could not be reconciled:`, error);
  };

  const running = (async () => {
    while (!signal.aborted) {
      // One round that fails, with the database for one, must not be the last.
      await round().catch((error: unknown) => {
        if (!signal.aborted) console.error('[shop] reconciling failed:', error);
      });
      await sleep(interval, undefined, { signal }).catch(() => undefined);
    }
  })();

  return () => {
    stopping.abort();
    return running;
  };
}
