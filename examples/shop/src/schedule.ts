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
    while (!signal.aborted) {
      try {
        const { errors, undecided } = await payments.reconcile(undefined, { signal });
        const count = errors.count + undecided.count;
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
