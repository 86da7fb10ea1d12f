import { setTimeout as sleep } from 'node:timers/promises';
import type { Payments } from '@paylink/payments';

/**
 * Reconciles the unpaid orders at once and then again and again, `interval` milliseconds after the
 * last run: a notification may never come, and the customer may never come back. Returns a function
 * that stops the schedule.
 */
export function startSchedule(payments: Payments, interval: number): () => Promise<void> {
  const stopping = new AbortController();
  const { signal } = stopping;

  const running = (async () => {
    let cursor: string | undefined;
    while (!signal.aborted) {
      try {
        const report = await payments.reconcile(undefined, { cursor, signal });
        // The next run continues there, so that a long list is read to its end.
        cursor = report.cursor;
        const count = report.errors.count + report.undecided.count;
        if (count > 0) console.error(`[shop] ${count} orders need a person`);
      } catch (error) {
        // A run that fails must not be the last: the service may be away for a moment.
        if (!signal.aborted) console.error('[shop] the schedule failed', error);
      }
      await sleep(interval, undefined, { signal }).catch(() => undefined);
    }
  })();

  return () => {
    stopping.abort();
    return running;
  };
}
