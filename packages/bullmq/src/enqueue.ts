import { WebhookError } from '@paylink/core';
import { check, validateBound, validateOptions, withinBounds } from '@paylink/core/internal';
import type { JobsOptions } from 'bullmq';

/** A verified notification in Redis. Contains neither a secret nor a signature. */
export interface PaymentJob {
  readonly type: 'payment.succeeded';
  readonly reference: string;
  readonly tenant: string | null;
}

/** The part of a BullMQ `Queue` that Paylink uses. */
export interface JobQueue {
  readonly defaultJobOptions?: JobsOptions | undefined;
  add(name: string, data: PaymentJob, options: JobsOptions): Promise<unknown>;
}

export interface EnqueueOptions {
  /** Overrides the queue's `defaultJobOptions`. */
  readonly jobOptions?: Omit<JobsOptions, (typeof REFUSED)[number]> | undefined;
  /** Milliseconds for Redis to store the job. Default 5,000. */
  readonly timeout?: number | undefined;
}

/**
 * The service has its 200 and does not send again, so BullMQ's default of one attempt would lose a
 * payment at the first error. These attempts take about six days.
 */
const PERSISTENT: JobsOptions = {
  attempts: 20,
  backoff: { type: 'exponential', delay: 1_000, jitter: 0.5 },
};

/** With each of these options BullMQ drops jobs of payments that were acknowledged. */
const REFUSED = ['jobId', 'removeOnFail', 'deduplication', 'debounce', 'repeat'] as const;

/**
 * Makes a webhook handler for `payment.succeeded`. Adds a job for each notification, and resolves
 * when Redis has stored the job. A repeated notification is a second job, which finds the order
 * paid.
 *
 * The handler throws WebhookError `queue_unavailable` (503) if Redis does not store the job in
 * time, and `misconfigured` for other kinds, which the worker could not credit.
 *
 * @throws ConfigurationError that names the option
 */
export function enqueue(
  queue: JobQueue,
  options: EnqueueOptions = {},
): (
  event: {
    readonly type: string;
    readonly reference: string;
    readonly tenant: string | null;
  },
  context: { readonly signal: AbortSignal },
) => Promise<void> {
  const isQueue = typeof (queue as Partial<JobQueue> | null | undefined)?.add === 'function';
  check(isQueue, 'queue', 'must be a Queue of BullMQ');
  const { jobOptions = {}, timeout = 5_000 } = validateOptions(options, ['jobOptions', 'timeout']);
  validateBound('timeout', timeout);
  const given = { ...definedOf(queue.defaultJobOptions), ...definedOf(jobOptions) };
  const settings = validateJobOptions(given);

  return async ({ type, reference, tenant }, { signal }) => {
    if (type !== 'payment.succeeded') {
      const message = 'enqueue() takes payment.succeeded alone: pass a handler for each other kind';
      throw new WebhookError('misconfigured', { message });
    }
    try {
      // BullMQ's connection keeps commands while Redis is down, so the wait has a limit.
      const job = await withinBounds(queue.add(type, { type, reference, tenant }, settings), {
        milliseconds: timeout,
        signals: [signal],
      });
      if (typeof job !== 'object' || job === null) {
        throw new TypeError('queue.add() gave no job: look for a missing `return`');
      }
    } catch (cause) {
      const message = 'the queue did not store the job';
      throw new WebhookError('queue_unavailable', { status: 503, message, cause });
    }
  };
}

/** An option that is undefined counts as not given, or it would remove a default. */
function definedOf(options: object | undefined): object {
  const given = Object.entries<unknown>({ ...options });
  return Object.fromEntries(given.filter(([, value]) => value !== undefined));
}

function validateJobOptions(options: JobsOptions): JobsOptions {
  const { attempts = PERSISTENT.attempts } = options;
  const isEnough = Number.isInteger(attempts) && attempts! >= 2;
  const problem =
    'must be 2 or more, also in defaultJobOptions of the queue: BullMQ would not try again';
  check(isEnough, 'jobOptions.attempts', problem);
  for (const name of REFUSED) {
    const isUnset = (options as Record<string, unknown>)[name] === undefined;
    // A queue may keep its failed jobs by default, as Paylink does.
    const isKept = name === 'removeOnFail' && options.removeOnFail === false;
    check(
      isUnset || isKept,
      `jobOptions.${name}`,
      'must not be set, nor in defaultJobOptions of the queue: BullMQ would drop payments',
    );
  }
  return { ...PERSISTENT, ...options, removeOnFail: false };
}
