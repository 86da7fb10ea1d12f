/** Queues notifications as pg-boss jobs on PostgreSQL. The 200 goes out after the job's commit. */
import { paymentWebhook } from '@paylink/express';
import { WebhookError, type Payments } from '@paylink/payments';
import express, { type Express } from 'express';
import type PgBoss from 'pg-boss';

const QUEUE = 'payments';
const DEAD = 'payments-dead';

/** Call this after `boss.start()` and before the first job. */
export async function createQueues(boss: PgBoss, expireInSeconds = 60): Promise<void> {
  await boss.createQueue(DEAD);
  // The service has its 200 and does not send again, so watch the dead-letter queue.
  const retries = { retryLimit: 20, retryDelay: 1, retryBackoff: true, deadLetter: DEAD };
  await boss.createQueue(QUEUE, { name: QUEUE, ...retries, expireInSeconds });
}

export function createApp(secret: string | undefined, boss: PgBoss): Express {
  const app = express();
  const webhook = paymentWebhook({ secret }, async ({ type, reference, tenant }) => {
    // pg-boss resolves with null if the queue does not exist.
    const id = await boss.send(QUEUE, { type, reference, tenant }).catch(() => null);
    if (id === null) throw new WebhookError('orders_unavailable');
  });
  app.post('/webhooks/payments', webhook);
  return app;
}

export async function startWorker(payments: Payments, boss: PgBoss): Promise<void> {
  const pace = { batchSize: 1, pollingIntervalSeconds: 0.5 };
  type Event = Parameters<Payments['receive']>[0];
  await boss.work<Event>(QUEUE, pace, async (jobs) => {
    for (const { data } of jobs) await payments.receive(data);
  });
}
