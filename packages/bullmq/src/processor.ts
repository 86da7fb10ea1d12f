import { check, validateBound, validateOptions } from '@paylink/core';
import type { Payments, Received } from '@paylink/payments';
import { fromJob } from './job-data.js';

export interface ProcessorOptions {
  /** Milliseconds for one attempt of a job. Default 25,000. */
  readonly timeout?: number | undefined;
}

/**
 * Makes the processor of a worker, for `new Worker(name, processor)`. It gives each job to
 * `payments.receive`. BullMQ keeps the outcome as the job's return value. Every error fails the job,
 * and BullMQ tries again.
 *
 * The worker proves nothing and needs no webhook secret. Anything that can write to this Redis can
 * make jobs, and payments asks the service before it credits one.
 *
 * @throws ConfigurationError that names the option
 */
export function createProcessor(
  payments: Pick<Payments, 'receive'>,
  options: ProcessorOptions = {},
): (job: { data: unknown }, token?: string, signal?: AbortSignal) => Promise<Received> {
  check(typeof payments?.receive === 'function', 'payments', 'must be made by createPayments()');
  const { timeout = 25_000 } = validateOptions(options, ['timeout']);
  validateBound('timeout', timeout);
  return async (job, _token, cancel) => {
    const limit = AbortSignal.timeout(timeout);
    const signal = cancel === undefined ? limit : AbortSignal.any([cancel, limit]);
    return payments.receive(fromJob(job.data), { signal });
  };
}
