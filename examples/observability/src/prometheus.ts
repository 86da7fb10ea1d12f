import { setTimeout } from 'node:timers/promises';
import type { ObserveHook } from '@paylink/core';
import type { PaymentOutcome } from '@paylink/payments';
import { Counter, Gauge, Histogram, type Registry } from 'prom-client';

/** For `observe` of a receiver. */
export function observeIn(register: Registry): ObserveHook {
  const about = { labelNames: ['outcome', 'code', 'kind'] as const, registers: [register] };
  const deliveries = new Counter({
    name: 'paylink_deliveries_total',
    help: 'Deliveries, by how they ended',
    ...about,
  });
  const seconds = new Histogram({
    name: 'paylink_delivery_duration_seconds',
    help: 'Time for a delivery',
    ...about,
  });
  const buckets = [256, 1_024, 4_096, 16_384, 65_536];
  const bytes = new Histogram({
    name: 'paylink_delivery_body_bytes',
    help: 'Size of a body',
    buckets,
    ...about,
  });
  return ({ outcome, code = '', type = '', bodyBytes, durationMs }) => {
    const labels = { outcome, code, kind: type };
    deliveries.inc(labels);
    seconds.observe(labels, durationMs / 1_000);
    bytes.observe(labels, bodyBytes);
  };
}

/** For `observe` of createPayments: which way credited, and how often. */
export function observePaymentsIn(register: Registry): (outcome: PaymentOutcome) => void {
  const payments = new Counter({
    name: 'paylink_payments_total',
    help: 'Runs of an order, by source and outcome',
    labelNames: ['source', 'outcome'] as const,
    registers: [register],
  });
  return ({ source, outcome }) => payments.inc({ source, outcome });
}

/** @param since creation of the oldest order that is unpaid and not given up, or `undefined` */
export function watchUnpaid(register: Registry, since: () => Promise<Date | undefined>): void {
  new Gauge({
    name: 'paylink_orders_oldest_unpaid_age_seconds',
    help: 'Age of the oldest order that waits for its money',
    registers: [register],
    async collect() {
      // A query that fails or hangs must not take the other metrics with it.
      const tooLate = setTimeout(5_000, Number.NaN, { ref: false });
      this.set(await Promise.race([since().then(ageOf), tooLate]).catch(() => Number.NaN));
    },
  });
}

function ageOf(oldest: Date | undefined): number {
  return oldest === undefined ? 0 : (Date.now() - oldest.getTime()) / 1_000;
}
