import { metrics, trace } from '@opentelemetry/api';
import type { ObserveHook } from '@paylink/core';
import type { PaymentOutcome } from '@paylink/payments';

const meter = metrics.getMeter('paylink');
const deliveries = meter.createCounter('paylink.deliveries', { unit: '{delivery}' });
const duration = meter.createHistogram('paylink.delivery.duration', { unit: 's' });
const bodySize = meter.createHistogram('paylink.delivery.body.size', { unit: 'By' });
const payments = meter.createCounter('paylink.payments', { unit: '{payment}' });

/** For `observe` of a receiver: attributes on the span of the request, and three metrics. */
export const observe: ObserveHook = (delivery) => {
  const { outcome, code, type, secretIndex, bodyBytes, durationMs } = delivery;
  const labels = labelsOf({ outcome, code, kind: type });
  trace.getActiveSpan()?.setAttributes({ ...labels, 'paylink.secret_index': secretIndex });
  deliveries.add(1, labels);
  duration.record(durationMs / 1_000, labels);
  bodySize.record(bodyBytes, labels);
};

/** As `observe`, with the order number on the span. Never in a metric: each would be a series. */
export const observeWithReference: ObserveHook = (outcome) => {
  trace.getActiveSpan()?.setAttributes({ 'paylink.reference': outcome.reference });
  return observe(outcome);
};

/**
 * For `observe` of createPayments: attributes on the span of the request or job, and a counter by
 * source. It shows the payments that only the return page or the schedule has credited.
 */
export const observePayments = ({ source, outcome }: PaymentOutcome): void => {
  const labels = { 'paylink.outcome': outcome, 'paylink.source': source };
  trace.getActiveSpan()?.setAttributes(labels);
  payments.add(1, labels);
};

interface Facts {
  readonly outcome: string;
  readonly code: string | undefined;
  readonly kind: string | undefined;
}

function labelsOf({ outcome, code, kind }: Facts) {
  return {
    'paylink.outcome': outcome,
    ...(code && { 'paylink.code': code }),
    ...(kind && { 'paylink.kind': kind }),
  };
}

/** @param since creation of the oldest order that is unpaid and not given up, or `undefined` */
export function watchUnpaid(since: () => Promise<Date | undefined>): void {
  const age = meter.createObservableGauge('paylink.orders.oldest_unpaid.age', { unit: 's' });
  age.addCallback(async (result) => {
    const oldest = await since();
    result.observe(oldest === undefined ? 0 : (Date.now() - oldest.getTime()) / 1_000);
  });
}
