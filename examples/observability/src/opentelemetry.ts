import { metrics, trace } from '@opentelemetry/api';
import type { ObserveHook } from '@paylink/core';

const meter = metrics.getMeter('paylink');
const deliveries = meter.createCounter('paylink.deliveries', { unit: '{delivery}' });
const duration = meter.createHistogram('paylink.delivery.duration', { unit: 's' });
const bodySize = meter.createHistogram('paylink.delivery.body.size', { unit: 'By' });

/** For the option `observe`: attributes on the span of the request, or of the job, and three metrics with the same labels. */
export const observe: ObserveHook = ({ outcome, code, type, secretIndex, bodyBytes, durationMs }) => {
  const labels = { 'paylink.outcome': outcome, ...(code && { 'paylink.code': code }), ...(type && { 'paylink.kind': type }) };
  trace.getActiveSpan()?.setAttributes({ ...labels, 'paylink.secret_index': secretIndex });
  deliveries.add(1, labels);
  duration.record(durationMs / 1_000, labels);
  bodySize.record(bodyBytes, labels);
};

/** As `observe`, with the merchant's order number on the span. Never in a metric: each would be a series of its own. */
export const observeWithReference: ObserveHook = (outcome) => {
  trace.getActiveSpan()?.setAttributes({ 'paylink.reference': outcome.reference });
  return observe(outcome);
};

/** @param since when the oldest order was made that is unpaid and not given up; `undefined` where there is none */
export function watchUnpaid(since: () => Promise<Date | undefined>): void {
  const age = meter.createObservableGauge('paylink.orders.oldest_unpaid.age', { unit: 's' });
  age.addCallback(async (result) => {
    const oldest = await since();
    result.observe(oldest === undefined ? 0 : (Date.now() - oldest.getTime()) / 1_000);
  });
}
