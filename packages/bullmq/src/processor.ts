import { createDispatcher, type ConfirmedPayment, type Dispatched, type DispatcherOptions } from '@paylink/core';
import type { EventSchemas, NoEvents, ReceiverHandlers } from '@paylink/core';
import { fromJob } from './job-data.js';

/** The part of a BullMQ `Job` that is used. */
export interface JobLike {
  readonly data: unknown;
}

/** What a handler is given beside its event, `signal`, `payment` and what the store adds. */
export interface JobContext {
  readonly job: JobLike;
}

/** For `new Worker(name, processor)`. What it resolves with is the job's return value, which BullMQ keeps in Redis. */
export type PaymentProcessor = (
  job: JobLike,
  token?: string,
  signal?: AbortSignal,
) => Promise<{ readonly outcome: Dispatched['outcome'] }>;

/**
 * Makes the processor of a worker: it runs the same handlers with the same store, `confirm` and time limit as a receiver would.
 * What a handler throws fails the job, and so do `in_progress`, `payment_pending` and every other 503: BullMQ tries again.
 *
 * It needs no webhook secret, because it proves nothing. Anything that can write to this Redis can make jobs, so keep `confirm`.
 *
 * @throws ConfigurationError that names the option or the handler.
 */
export function createProcessor<
  const Events extends EventSchemas = NoEvents,
  Payment extends ConfirmedPayment = never,
  Scope extends object = never,
>(
  options: DispatcherOptions<Events, Payment, Scope, JobContext>,
  handlers: ReceiverHandlers<Events, Payment, Scope, JobContext>,
): PaymentProcessor {
  const dispatcher = createDispatcher(options, handlers);
  return async (job, _token, signal) => {
    // What the handler returned stays out of Redis.
    const { outcome } = await dispatcher.dispatch(fromJob(job.data), { job }, { signal });
    return { outcome };
  };
}
