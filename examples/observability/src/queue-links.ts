import {
  context,
  propagation,
  ROOT_CONTEXT,
  SpanKind,
  SpanStatusCode,
  trace,
} from '@opentelemetry/api';

/** Returns the ids of the active trace and span for the job, and nothing of the event. */
export function carryTrace(): Record<string, string> {
  const carrier: Record<string, string> = {};
  propagation.inject(context.active(), carrier);
  return carrier;
}

/**
 * Runs a job in its own span, with a link to the span of the notification. The span is linked and
 * not a child, because the job may run hours later and more than once.
 */
export function runLinked<Result>(
  queue: string,
  carrier: Record<string, string>,
  work: () => Promise<Result>,
): Promise<Result> {
  const producer = trace.getSpanContext(propagation.extract(ROOT_CONTEXT, carrier));
  const options = {
    kind: SpanKind.CONSUMER,
    links: producer === undefined ? [] : [{ context: producer }],
    attributes: { 'messaging.operation.name': 'process', 'messaging.destination.name': queue },
  };
  return trace
    .getTracer('paylink')
    .startActiveSpan(`process ${queue}`, options, ROOT_CONTEXT, async (span) => {
      try {
        return await work();
      } catch (error) {
        // Without the message, which may quote the merchant's data.
        span.setStatus({ code: SpanStatusCode.ERROR });
        throw error;
      } finally {
        span.end();
      }
    });
}
