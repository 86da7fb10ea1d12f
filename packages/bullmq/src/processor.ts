import { check } from '@paylink/core/internal';
import type { PaymentJob } from './enqueue.js';

/** The part of `Payments` that the worker uses. */
interface Receiving {
  readonly receive: (
    event: PaymentJob,
    context: { readonly signal?: AbortSignal | undefined },
  ) => Promise<void>;
}

/**
 * Makes a worker's processor, for `new Worker(name, createProcessor(payments))`. Gives each job to
 * `payments.receive`. Every error fails the job, and BullMQ tries again.
 *
 * The worker needs no webhook secret. Anybody who can write to this Redis can make jobs, and
 * payments asks the service before it credits an order.
 *
 * @throws ConfigurationError
 */
export function createProcessor(
  payments: Receiving,
): (job: { readonly data: unknown }, token?: string, signal?: AbortSignal) => Promise<void> {
  const { receive } = Object(payments) as Partial<Receiving>;
  check(typeof receive === 'function', 'payments', 'must be made by createPayments()');
  return (job, _token, signal) => receive(job.data as PaymentJob, { signal });
}
