/**
 * Verified events as jobs of pg-boss, in the database of the orders and without Redis. The 200 goes
 * out when the job is committed. The worker's credit and its mark commit in one transaction.
 */
import { paymentWebhook } from '@paylink/express';
import { WebhookError } from '@paylink/payments';
import express, { type Express } from 'express';
import type PgBoss from 'pg-boss';
import { fromJob, toJob, type PaymentJob } from './job.js';
import { createWorkerPayments, type WorkerSettings } from './orders.js';

const QUEUE = 'payments';
const DEAD = 'payments-dead';

/** Call this after `boss.start()`, and before the first job. */
export async function createQueues(boss: PgBoss, expireInSeconds = 60): Promise<void> {
  await boss.createQueue(DEAD);
  // The service has its 200 and does not retry. A person watches the dead-letter queue.
  const retries = { retryLimit: 20, retryDelay: 1, retryBackoff: true, deadLetter: DEAD };
  await boss.createQueue(QUEUE, { name: QUEUE, ...retries, expireInSeconds });
}

interface AppSettings {
  readonly secret: string | undefined;
  readonly boss: PgBoss;
}

export function createApp({ secret, boss }: AppSettings): Express {
  const app = express();
  app.post(
    '/webhooks/payments',
    paymentWebhook({ secret }, async (event) => {
      const message = 'pg-boss did not take the job';
      const id = await boss.send(QUEUE, toJob(event)).catch((cause: unknown) => {
        throw new WebhookError('store_unavailable', { message, cause });
      });
      // pg-boss returns null instead of an error if there is no such queue.
      if (id === null) throw new WebhookError('store_unavailable', { message });
    }),
  );
  return app;
}

interface BossSettings extends WorkerSettings {
  readonly boss: PgBoss;
}

export async function startWorker({ boss, ...settings }: BossSettings): Promise<void> {
  const payments = createWorkerPayments(settings);
  const pace = { batchSize: 1, pollingIntervalSeconds: 0.5 };
  await boss.work<PaymentJob>(QUEUE, pace, async (jobs) => {
    for (const { data } of jobs) await payments.receive(fromJob(data));
  });
}
