/**
 * Verified events as jobs of BullMQ. The 200 goes out when Redis has the job; the worker's store on PostgreSQL is the record
 * of what is done.
 */
import { createProcessor, enqueue } from '@paylink/bullmq';
import { paymentWebhook } from '@paylink/express';
import { postgresStore } from '@paylink/postgres';
import { Queue, Worker, type ConnectionOptions, type WorkerOptions } from 'bullmq';
import express, { type Express } from 'express';
import type { Pool } from 'pg';
import { handlers, type Confirm, type Handlers } from './orders.js';

export function createApp({ secret, queue }: { readonly secret: string | undefined; readonly queue: Queue }): Express {
  const app = express();
  app.post('/webhooks/payments', paymentWebhook({ secret }, { 'payment.succeeded': enqueue(queue) }));
  return app;
}

/** How soon the job of a killed worker runs again: at most the sum. BullMQ's defaults are 30 s each. */
type Pace = Pick<WorkerOptions, 'lockDuration' | 'stalledInterval'>;

export function createQueue(connection: ConnectionOptions): Queue {
  return new Queue('payments', { connection });
}

export interface WorkerSettings {
  readonly connection: ConnectionOptions;
  readonly pool: Pool;
  readonly confirm: Confirm;
  readonly map?: Handlers;
  readonly pace?: Pace;
}

/** The worker trusts its jobs, and anything that can write to this Redis can make one: `confirm` asks the service. */
export function startWorker({ connection, pool, confirm, map = handlers, pace = {} }: WorkerSettings): Worker {
  const processor = createProcessor({ idempotency: postgresStore(pool), confirm }, map);
  // Above BullMQ's default of 1: a job whose worker was killed twice would be given up.
  return new Worker('payments', processor, {
    connection,
    maxStalledCount: 20,
    lockDuration: 10_000,
    stalledInterval: 5_000,
    ...pace,
  });
}
