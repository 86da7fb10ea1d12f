/**
 * Verified events as jobs of BullMQ. The 200 goes out when Redis has the job. The worker's store on
 * PostgreSQL is the record of the credits.
 */
import { createProcessor, enqueue } from '@paylink/bullmq';
import { paymentWebhook } from '@paylink/express';
import { Queue, Worker, type ConnectionOptions, type WorkerOptions } from 'bullmq';
import express, { type Express } from 'express';
import { createWorkerPayments, type WorkerSettings } from './orders.js';

interface AppSettings {
  readonly secret: string | undefined;
  readonly queue: Queue;
}

export function createApp({ secret, queue }: AppSettings): Express {
  const app = express();
  app.post('/webhooks/payments', paymentWebhook({ secret }, enqueue(queue)));
  return app;
}

export function createQueue(connection: ConnectionOptions): Queue {
  return new Queue('payments', { connection });
}

interface BullmqSettings extends WorkerSettings {
  readonly connection: ConnectionOptions;
  /** The job of a killed worker runs again after their sum. BullMQ's defaults are 30 s each. */
  readonly pace?: Pick<WorkerOptions, 'lockDuration' | 'stalledInterval'>;
}

export function startWorker({ connection, pace, ...settings }: BullmqSettings): Worker {
  return new Worker('payments', createProcessor(createWorkerPayments(settings)), {
    connection,
    // BullMQ's default of 1 would give up a job whose worker was killed twice.
    maxStalledCount: 20,
    lockDuration: 10_000,
    stalledInterval: 5_000,
    ...pace,
  });
}
