import { createHash } from 'node:crypto';
import { ConfigurationError, isWebhookError, WebhookError, type WebhookEvent } from '@paylink/core';
import type { JobsOptions } from 'bullmq';
import { kindOf, toJob, type PaymentJob, type VerifiedEvent } from './job-data.js';
import { withinBounds } from './waiting.js';

/** The part of a BullMQ `Queue` that is used. */
export interface JobQueue {
  readonly defaultJobOptions?: JobsOptions | undefined;
  add(name: string, data: PaymentJob, options: JobsOptions): Promise<unknown>;
  getJob(id: string): Promise<QueuedJob | undefined>;
}

interface QueuedJob {
  getState(): Promise<string>;
  // Of any type, so that a queue that is made in place is not taken for one of other jobs.
  updateData(data: never): Promise<unknown>;
  retry(state: 'completed' | 'failed', options?: { resetAttemptsMade?: boolean; resetAttemptsStarted?: boolean }): Promise<unknown>;
}

export interface EnqueueOptions {
  /** The identity of an event, as of `idempotency.key`. Default kind and reference. The job's id is its SHA-256. */
  readonly key?: ((event: WebhookEvent) => string) | undefined;
  /** Of BullMQ, above the queue's `defaultJobOptions`. `jobId` and `removeOnFail` are not yours to set. */
  readonly jobOptions?: Omit<JobsOptions, 'jobId' | 'removeOnFail'> | undefined;
  /** Milliseconds for Redis to have the job. Default 5,000. */
  readonly timeout?: number | undefined;
}

/**
 * The service has its 200, so it will not come again: BullMQ's own default of one attempt would give a payment up at the first
 * error. These are spread over about six days.
 */
const PERSISTENT: JobsOptions = { attempts: 20, backoff: { type: 'exponential', delay: 1_000, jitter: 0.5 } };

/** How often a job that changes while it is looked at is looked at again. */
const LOOKS = 5;

/**
 * Makes a handler that turns a verified event into a job of the queue, and resolves once Redis has it: only then does the 200 go
 * out. A job of the same event that waits is left alone; one that has ended, well or badly, is run again, because the worker's
 * store is the record of what is done and the queue is not.
 *
 * The handler throws WebhookError `in_progress` (503) while a worker is at the event, and `store_unavailable` (503) when Redis
 * does not take the job in time.
 *
 * @throws ConfigurationError that names the option.
 */
export function enqueue(
  queue: JobQueue,
  { key = identityOf, jobOptions, timeout = 5_000 }: EnqueueOptions = {},
): (event: VerifiedEvent, context: { readonly signal: AbortSignal }) => Promise<void> {
  check(typeof queue?.add === 'function' && typeof queue.getJob === 'function', 'queue', 'must be a Queue of BullMQ');
  check(typeof key === 'function', 'key', 'must be a function');
  check(Number.isInteger(timeout) && timeout > 0 && timeout < 2 ** 31, 'timeout', 'must be a whole number from 1 to 2147483647');
  const options = readJobOptions(queue, jobOptions);

  return async (event, { signal }) => {
    const id = createHash('sha256')
      .update(key(event as WebhookEvent))
      .digest('hex');
    const placing = place(queue, id, kindOf(event), toJob(event), options);
    try {
      await withinBounds(placing, timeout, signal);
    } catch (error) {
      if (isWebhookError(error)) throw error;
      throw new WebhookError('store_unavailable', { message: 'the queue did not take the job', cause: error });
    }
  };
}

function readJobOptions(queue: JobQueue, jobOptions: EnqueueOptions['jobOptions'] = {}): JobsOptions {
  for (const name of ['jobId', 'removeOnFail']) {
    check(
      !Object.hasOwn(jobOptions, name),
      `jobOptions.${name}`,
      'cannot be set: an event has one job, and it stays when it fails',
    );
  }
  const options = { ...PERSISTENT, ...queue.defaultJobOptions, ...jobOptions };
  // What fails for good has been acknowledged to the service: nobody else has it.
  return { ...options, removeOnFail: false };
}

/** Resolves when a job is in Redis that will run from now on. */
async function place(queue: JobQueue, id: string, name: string, data: PaymentJob, options: JobsOptions): Promise<void> {
  for (let look = 0; look < LOOKS; look++) {
    // Before `add`, which says nothing of a job that is there: what a worker began before this delivery may not know what it tells.
    const job = await queue.getJob(id);
    if (job === undefined) {
      await queue.add(name, data, { ...options, jobId: id });
      return;
    }
    const state = await job.getState();
    if (state === 'active') throw new WebhookError('in_progress', { message: 'a worker is at the event' });
    if (state !== 'completed' && state !== 'failed' && state !== 'unknown') return;
    if (state !== 'unknown' && (await runAgain(job, state, data))) return;
  }
  throw new Error('the job of the event changed each time it was looked at');
}

/** Whether it could be: another delivery, or an operator, may have been first. */
async function runAgain(job: QueuedJob, state: 'completed' | 'failed', data: PaymentJob): Promise<boolean> {
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

/** As of the receiver. */
function identityOf(event: VerifiedEvent): string {
  return `${kindOf(event)}:${event.reference}`;
}

function check(fit: boolean, option: string, problem: string): void {
  if (!fit) throw new ConfigurationError(option, problem);
}
