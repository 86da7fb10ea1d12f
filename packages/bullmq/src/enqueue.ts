import type { WebhookEvent } from '@paylink/core';
import {
  check,
  checkNames,
  identify,
  ownKey,
  isWebhookError,
  keyedByTenant,
  onlyQueues,
  readBound,
  WebhookError,
  withinBounds,
  type TenantContext,
} from '@paylink/core/idempotency';
import type { JobsOptions } from 'bullmq';
import { kindOf, toJob, type PaymentJob, type VerifiedEvent } from './job-data.js';

/** The part of a BullMQ `Queue` that is used. */
export interface JobQueue {
  readonly defaultJobOptions?: JobsOptions | undefined;
  add(name: string, data: PaymentJob, options: JobsOptions): Promise<{ readonly id?: string | undefined }>;
  getJob(id: string): Promise<QueuedJob | undefined>;
}

interface QueuedJob {
  getState(): Promise<string>;
  // Of any type, so that a queue that is made in place is not taken for one of other jobs.
  updateData(data: never): Promise<unknown>;
  retry(state: 'completed' | 'failed', options?: { resetAttemptsMade?: boolean; resetAttemptsStarted?: boolean }): Promise<unknown>;
}

export interface EnqueueOptions {
  /** The identity of an event, as of `idempotency.key`. Default tenant, kind and reference. The job's id is its SHA-256. */
  readonly key?: ((event: WebhookEvent, context: TenantContext) => string) | undefined;
  /** Of BullMQ, above the queue's `defaultJobOptions`. `jobId`, `removeOnFail` and `deduplication` cannot be set. */
  readonly jobOptions?: Omit<JobsOptions, 'jobId' | 'removeOnFail' | 'deduplication'> | undefined;
  /** Milliseconds for Redis to have the job. Default 5,000. */
  readonly timeout?: number | undefined;
}

/**
 * The service has its 200 and does not retry: BullMQ's own default of one attempt would give a payment up at the first error.
 * These are spread over about six days.
 */
const PERSISTENT: JobsOptions = { attempts: 20, backoff: { type: 'exponential', delay: 1_000, jitter: 0.5 } };

/** How often a job that changes while it is read is read again. */
const LOOKS = 5;

/**
 * Makes a handler that turns a verified event into a job of the queue, and resolves once Redis has it: only then is the 200 sent.
 * A waiting job of the same event is left alone. One that has ended, well or badly, is run again, because the worker's store is
 * the record of what is done and the queue is not.
 *
 * The handler throws WebhookError `in_progress` (503) while a worker handles the event, and `store_unavailable` (503) when Redis
 * does not take the job in time.
 *
 * @throws ConfigurationError that names the option.
 */
export function enqueue(
  queue: JobQueue,
  options: EnqueueOptions = {},
): (event: VerifiedEvent, context: { readonly signal: AbortSignal } & TenantContext) => Promise<void> {
  check(typeof queue?.add === 'function' && typeof queue.getJob === 'function', 'queue', 'must be a Queue of BullMQ');
  checkNames(options, ['key', 'jobOptions', 'timeout']);
  const { key, jobOptions, timeout = 5_000 } = options;
  check(key === undefined || typeof key === 'function', 'key', 'must be a function');
  readBound('timeout', timeout);
  const placed = readJobOptions(queue, jobOptions);

  const idOf = async (event: VerifiedEvent, tenant: string | undefined): Promise<string> => {
    if (key === undefined) return (await identify({ tenant, kind: kindOf(event), reference: event.reference })).key;
    return ownKey(key(event as WebhookEvent, tenant === undefined ? {} : { tenant }), 'key');
  };

  const handler = async (
    event: VerifiedEvent,
    { signal, tenant }: { readonly signal: AbortSignal } & TenantContext,
  ): Promise<void> => {
    const id = await idOf(event, tenant);
    const placing = place(queue, id, kindOf(event), toJob(event, tenant), placed);
    const reason = (aborted: AbortSignal | undefined): unknown =>
      aborted?.reason ?? new Error(`Redis gave no answer in ${timeout} ms`);
    try {
      // BullMQ's connection keeps commands for a Redis that is down until it is back.
      await withinBounds(placing, { milliseconds: timeout, signals: [signal], reason });
    } catch (error) {
      if (isWebhookError(error)) throw error;
      throw new WebhookError('store_unavailable', { message: 'the queue did not take the job', cause: error });
    }
  };
  // A key of the merchant's own may tell tenants apart by what the event says.
  return key === undefined ? keyedByTenant(handler) : onlyQueues(handler);
}

function readJobOptions(queue: JobQueue, jobOptions: EnqueueOptions['jobOptions'] = {}): JobsOptions {
  for (const name of ['jobId', 'removeOnFail']) {
    check(
      !Object.hasOwn(jobOptions, name),
      `jobOptions.${name}`,
      'cannot be set: an event has one job, and it stays when it fails',
    );
  }
  const options: JobsOptions = { ...PERSISTENT, ...queue.defaultJobOptions, ...jobOptions };
  // `debounce` is what BullMQ 5 called it first.
  for (const name of ['deduplication', 'debounce'] as const) {
    check(
      (options as Record<string, unknown>)[name] === undefined,
      `jobOptions.${name}`,
      "cannot be set, nor in the queue's defaultJobOptions: BullMQ would drop the jobs of other payments, which were acknowledged",
    );
  }
  // What fails for good was acknowledged to the service, so the queue has the only copy.
  return { ...options, removeOnFail: false };
}

/** Resolves when Redis has a job that will run from now on. */
async function place(queue: JobQueue, id: string, name: string, data: PaymentJob, options: JobsOptions): Promise<void> {
  for (let look = 0; look < LOOKS; look++) {
    // Before `add`, which does not say that a job exists. A worker that began before this delivery may not know what it reports.
    const job = await queue.getJob(id);
    if (job === undefined) {
      const added = await queue.add(name, data, { ...options, jobId: id });
      if (added?.id !== id) throw new Error('BullMQ kept another job in place of the one of this event');
      return;
    }
    const state = await job.getState();
    if (state === 'active') throw new WebhookError('in_progress', { message: 'a worker handles the event' });
    if (state !== 'completed' && state !== 'failed' && state !== 'unknown') return;
    if (state !== 'unknown' && (await runAgain(job, state, data))) return;
  }
  throw new Error('the job of the event changed each time it was read');
}

/** False where another delivery, or an operator, was faster. */
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
