/** Notifications as jobs of BullMQ. The 200 goes out when Redis has the job. */
import { paymentWebhook } from '@paylink/express';
import { WebhookError, type Payments } from '@paylink/payments';
import { Worker, type JobsOptions, type Queue, type WorkerOptions } from 'bullmq';
import express, { type Express } from 'express';

type Event = Parameters<Payments['receive']>[0];

/**
 * The service has its 200 and does not send again, and BullMQ's default is one attempt. These take
 * three to six days. Set no jobId and no deduplication: BullMQ would drop acknowledged jobs.
 */
const PERSISTENT: JobsOptions = {
  attempts: 20,
  backoff: { type: 'exponential', delay: 1_000, jitter: 0.5 },
  removeOnFail: false,
};

export function createApp(secret: string | undefined, queue: Queue): Express {
  const app = express();
  const webhook = paymentWebhook(
    // BullMQ keeps commands while Redis is down, so the wait has a limit.
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
  // BullMQ's default of 1 would give up a job whose worker was killed twice.
  return new Worker<Event>('payments', ({ data }) => payments.receive(data), {
    maxStalledCount: 20,
    ...options,
  });
}
