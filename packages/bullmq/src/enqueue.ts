import { isWebhookError, WebhookError } from '@paylink/core';
import { check, validateBound, validateOptions, withinBounds } from '@paylink/core/internal';
import { identify, type AnyEvent } from '@paylink/payments';
import type { JobsOptions } from 'bullmq';
import { kindOf, toJob, type PaymentJob } from './job-data.js';

/** The part of a BullMQ `Queue` that Paylink uses. */
export interface JobQueue {
  readonly defaultJobOptions?: JobsOptions | undefined;
  add(
    name: string,
    data: PaymentJob,
    options: JobsOptions,
  ): Promise<{ readonly id?: string | undefined }>;
  getJob(id: string): Promise<QueuedJob | undefined>;
}

interface QueuedJob {
  getState(): Promise<string>;
  // Accepts jobs of any type, so that inference does not narrow an inline `new Queue()`.
  updateData(data: never): Promise<unknown>;
  retry(
    state: 'completed' | 'failed',
    options?: { resetAttemptsMade?: boolean; resetAttemptsStarted?: boolean },
  ): Promise<unknown>;
}

export interface EnqueueOptions {
  /**
   * Overrides the queue's `defaultJobOptions`. Excludes `jobId`, `removeOnFail` and
   * `deduplication`.
   */
  readonly jobOptions?: Omit<JobsOptions, 'jobId' | 'removeOnFail' | 'deduplication'> | undefined;
  /** Milliseconds for Redis to store the job. Default 5,000. */
  readonly timeout?: number | undefined;
}

/**
 * The service has its 200 and does not retry, so BullMQ's default of one attempt would lose a
 * payment at the first error. These attempts take about six days.
 */
const PERSISTENT: JobsOptions = {
  attempts: 20,
  backoff: { type: 'exponential', delay: 1_000, jitter: 0.5 },
};

/** Number of reads of a job that changes in between. */
const LOOKS = 5;

/**
 * Makes a webhook handler that adds each verified event to the queue and resolves once Redis stores
 * the job, before the 200. The job's id is the order's key, so an event has one job. A job that has
 * ended runs again, because the worker's store is the record and not the queue.
 *
 * The handler throws WebhookError `in_progress` (503) while a worker handles the event, and
 * `store_unavailable` (503) if Redis does not store the job in time.
 *
 * @throws ConfigurationError that names the option
 */
export function enqueue(
  queue: JobQueue,
  options: EnqueueOptions = {},
): (event: AnyEvent, context: { readonly signal: AbortSignal }) => Promise<void> {
  const { add, getJob } = Object(queue) as Partial<JobQueue>;
  const isQueue = typeof add === 'function' && typeof getJob === 'function';
  check(isQueue, 'queue', 'must be a Queue of BullMQ');
  const { jobOptions = {}, timeout = 5_000 } = validateOptions(options, ['jobOptions', 'timeout']);
  validateBound('timeout', timeout);
  const settings = validateJobOptions(queue, jobOptions);

  return async (event, { signal }) => {
    const tenant = Object.hasOwn(event, 'tenant') ? event.tenant : undefined;
    const kind = kindOf(event);
    const { key } = await identify({ tenant, kind, reference: event.reference });
    const placing = place(queue, key, kind, toJob(event, tenant), settings);
    const reason = (aborted: AbortSignal | undefined): unknown =>
      aborted?.reason ?? new Error(`Redis did not answer in ${timeout} ms`);
    try {
      // Limits the wait, because BullMQ's connection queues commands while Redis is down.
      await withinBounds(placing, { milliseconds: timeout, signals: [signal], reason });
    } catch (cause) {
      if (isWebhookError(cause)) throw cause;
      const message = 'the queue did not take the job';
      throw new WebhookError('store_unavailable', { message, cause });
    }
  };
}

function validateJobOptions(queue: JobQueue, jobOptions: object): JobsOptions {
  for (const name of ['jobId', 'removeOnFail']) {
    const problem = 'must not be set: an event has one job, and the job stays if it fails';
    check(!Object.hasOwn(jobOptions, name), `jobOptions.${name}`, problem);
  }
  const options: JobsOptions = { ...PERSISTENT, ...queue.defaultJobOptions, ...jobOptions };
  // BullMQ 5 first called the option `debounce`.
  for (const name of ['deduplication', 'debounce']) {
    check(
      (options as Record<string, unknown>)[name] === undefined,
      `jobOptions.${name}`,
      'must not be set, nor in defaultJobOptions of the queue: ' +
        'BullMQ would drop the jobs of other payments, which were acknowledged',
    );
  }
  // The service has its 200, so a failed job is the only copy.
  return { ...options, removeOnFail: false };
}

/** Resolves when Redis has a job that will run from now on. */
async function place(
  queue: JobQueue,
  id: string,
  name: string,
  data: PaymentJob,
  options: JobsOptions,
): Promise<void> {
  for (let look = 0; look < LOOKS; look++) {
    // Looks before `add`, which does not report an existing job.
    const job = await queue.getJob(id);
    if (job === undefined) {
      const added = await queue.add(name, data, { ...options, jobId: id });
      if (added?.id === id) return;
      throw new Error('BullMQ kept another job in place of the job of this event');
    }
    const state = await job.getState();
    // The worker may have asked the service before the payment succeeded.
    if (state === 'active') {
      throw new WebhookError('in_progress', { message: 'a worker is handling the event' });
    }
    if (state !== 'completed' && state !== 'failed' && state !== 'unknown') return;
    if (state !== 'unknown' && (await runAgain(job, state, data))) return;
  }
  throw new Error('the job of the event changed each time it was read');
}

/** Retries a job. Returns false if another delivery or an operator was faster. */
async function runAgain(
  job: QueuedJob,
  state: 'completed' | 'failed',
  data: PaymentJob,
): Promise<boolean> {
  try {
    await job.updateData(data as never);
    await job.retry(state, { resetAttemptsMade: true, resetAttemptsStarted: true });
    return true;
  } catch (error) {
    // Codes of BullMQ: -1 if the job is gone, -3 if it is in another state.
    const { code } = error as { readonly code?: unknown };
    if (code === -1 || code === -3) return false;
    throw error;
  }
}
