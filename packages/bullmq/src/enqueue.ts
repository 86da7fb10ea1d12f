import {
  check,
  isWebhookError,
  validateBound,
  validateOptions,
  WebhookError,
  withinBounds,
} from '@paylink/core';
import { identify, type AnyEvent } from '@paylink/payments';
import type { JobsOptions } from 'bullmq';
import { kindOf, toJob, type PaymentJob } from './job-data.js';

/** The part of a BullMQ `Queue` that is used. */
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
  // Of any type, so that a queue that is made in place is not taken for a queue of other jobs.
  updateData(data: never): Promise<unknown>;
  retry(
    state: 'completed' | 'failed',
    options?: { resetAttemptsMade?: boolean; resetAttemptsStarted?: boolean },
  ): Promise<unknown>;
}

export interface EnqueueOptions {
  /** Override the queue's `defaultJobOptions`. Not `jobId`, `removeOnFail` or `deduplication`. */
  readonly jobOptions?: Omit<JobsOptions, 'jobId' | 'removeOnFail' | 'deduplication'> | undefined;
  /** Milliseconds for Redis to take the job. Default 5,000. */
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

/** How often a job is read that changes in between. */
const LOOKS = 5;

/**
 * Makes a webhook handler that puts each verified event into the queue, and resolves once Redis has
 * the job: the 200 is sent after that. The job's id is the key of the order, so an event has one
 * job. A job that has ended runs again, because the worker's store is the record and not the queue.
 *
 * The handler throws WebhookError `in_progress` (503) while a worker handles the event, and
 * `store_unavailable` (503) if Redis does not take the job in time.
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
      aborted?.reason ?? new Error(`Redis gave no answer in ${timeout} ms`);
    try {
      // BullMQ's connection keeps commands for a Redis that is down until it is back.
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
  // `debounce` is its first name in BullMQ 5.
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
    // Before `add`, which does not say that a job exists.
    const job = await queue.getJob(id);
    if (job === undefined) {
      const added = await queue.add(name, data, { ...options, jobId: id });
      if (added?.id === id) return;
      throw new Error('BullMQ kept another job in place of the job of this event');
    }
    const state = await job.getState();
    // The worker may have asked the service before the payment succeeded.
    if (state === 'active') {
      throw new WebhookError('in_progress', { message: 'a worker handles the event' });
    }
    if (state !== 'completed' && state !== 'failed' && state !== 'unknown') return;
    if (state !== 'unknown' && (await runAgain(job, state, data))) return;
  }
  throw new Error('the job of the event changed each time it was read');
}

/** False if another delivery or an operator was faster. */
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
    // Codes of BullMQ: -1 the job is gone, -3 it is in another state.
    const { code } = error as { readonly code?: unknown };
    if (code === -1 || code === -3) return false;
    throw error;
  }
}
