import { type Handled } from '@paylink/core';
import { check, validateBound, validateOptions } from '@paylink/core/internal';
import type { Payments } from '@paylink/payments';
import { fromJob } from './job-data.js';

export interface ProcessorOptions {
  /** Milliseconds for one attempt of a job. Default 25,000. */
  readonly timeout?: number | undefined;
}

/**
 * Makes a worker's processor, for `new Worker(name, processor)`. Passes each job to
 * `payments.receive`. BullMQ stores the outcome as the job's return value. Every error fails the
 * job, and BullMQ retries.
 *
 * The worker verifies nothing and needs no webhook secret. Anybody with write access to this Redis
 * can make jobs, and payments asks the service before it credits one.
 *
 * @throws ConfigurationError that names the option
 */
export function createProcessor(
  payments: Pick<Payments, 'receive'>,
  options: ProcessorOptions = {},
): (job: { data: unknown }, token?: string, signal?: AbortSignal) => Promise<Handled> {
  check(typeof payments?.receive === 'function', 'payments', 'must be made by createPayments()');
  const { timeout = 25_000 } = validateOptions(options, ['timeout']);
  validateBound('timeout', timeout);
  return async (job, _token, cancel) => {
    const limit = AbortSignal.timeout(timeout);
    const signal = cancel === undefined ? limit : AbortSignal.any([cancel, limit]);
    return payments.receive(fromJob(job.data), { signal });
  };
}
