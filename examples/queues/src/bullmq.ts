/** Notifications as jobs of BullMQ. The 200 goes out when Redis has the job. */
import { createProcessor, enqueue } from '@paylink/bullmq';
import { paymentWebhook } from '@paylink/express';
import type { Payments } from '@paylink/payments';
import { Worker, type Queue, type WorkerOptions } from 'bullmq';
import express, { type Express } from 'express';

export function createApp(secret: string | undefined, queue: Queue): Express {
  const app = express();
  app.post('/webhooks/payments', paymentWebhook({ secret }, enqueue(queue)));
  return app;
}

export function startWorker(payments: Payments, options: WorkerOptions): Worker {
  // BullMQ's default of 1 would give up a job whose worker was killed twice.
  return new Worker('payments', createProcessor(payments), { maxStalledCount: 20, ...options });
}
