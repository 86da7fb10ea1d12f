/** Queues notifications as BullMQ jobs. The 200 goes out once Redis has stored the job. */
import { paymentWebhook } from '@paylink/express';
import { WebhookError, type Payments } from '@paylink/payments';
import { Worker, type JobsOptions, type Queue, type WorkerOptions } from 'bullmq';
import express, { type Express } from 'express';

type Event = Parameters<Payments['receive']>[0];

/**
 * The service has its 200 and does not send again, and BullMQ tries only once by default. These
 * attempts take three to six days. Do not set a jobId or deduplication, or BullMQ would drop
 * acknowledged jobs.
 */
const PERSISTENT: JobsOptions = {
  attempts: 20,
  backoff: { type: 'exponential', delay: 1_000, jitter: 0.5 },
  removeOnComplete: true,
  removeOnFail: false,
};

export function createApp(secret: string | undefined, queue: Queue): Express {
  const app = express();
  const webhook = paymentWebhook(
    // BullMQ holds commands while Redis is down, so the wait has a limit.
    { secret, handlerTimeout: 5_000 },
    async ({ type, reference, tenant }) => {
      const job: unknown = await queue
        .add(type, { type, reference, tenant }, PERSISTENT)
        .catch(() => undefined);
      if (job === undefined) throw new WebhookError('orders_unavailable');
    },
  );
  app.post('/webhooks/payments', webhook);
  return app;
}

export function startWorker(payments: Payments, options: WorkerOptions): Worker<Event> {
  // With the default of 1, BullMQ would give up on a job whose worker was killed twice.
  return new Worker<Event>('payments', ({ data }) => payments.receive(data), {
    maxStalledCount: 20,
    ...options,
  });
}
