import { setTimeout as sleep } from 'node:timers/promises';
import type { Payments } from '@paylink/payments';
import type { Orders } from './orders.js';

export interface ScheduleOptions {
  readonly orders: Orders;
  readonly payments: Payments;
  /** Milliseconds from the end of one run to the next. */
  readonly interval: number;
}

/**
 * Reconciles the unpaid orders at once and then again and again: a notification may never come, and
 * the customer may never come back. Returns a function that stops the schedule. A shop with a
 * server for its database runs `paylink reconcile` instead.
 */
export function startSchedule({
  orders,
  payments,
  interval,
}: ScheduleOptions): () => Promise<void> {
  const stopping = new AbortController();
  const { signal } = stopping;

  const run = async (): Promise<void> => {
    const { errors } = await payments.reconcile(await orders.unpaid(), { signal });
    if (errors.length > 0) console.error(`[shop] ${errors.length} orders could not be reconciled`);
  };

  const running = (async () => {
    while (!signal.aborted) {
      // A run that fails must not be the last: the database may be away for a moment.
      await run().catch((error: unknown) => {
        if (!signal.aborted) console.error(`[shop] reconcile failed: ${String(error)}`);
      });
      await sleep(interval, undefined, { signal }).catch(() => undefined);
    }
  })();

  return () => {
    stopping.abort();
    return running;
  };
}
