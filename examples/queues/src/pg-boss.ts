/**
 * Verified events as jobs of pg-boss, on the database of the orders and without Redis. The job and the mark that it is queued
 * commit in one transaction, and so do the credit and the mark that it is done: there is no moment at which a crash loses or
 * doubles anything.
 */
import { createDispatcher, type NoEvents, type WebhookEvent } from '@paylink/core';
import { paymentWebhook } from '@paylink/express';
import { postgresStore } from '@paylink/postgres';
import express, { type Express } from 'express';
import type { Pool } from 'pg';
import type PgBoss from 'pg-boss';
import { handlers, type Confirm, type Handlers, type Payment, type Transaction } from './orders.js';

const QUEUE = 'payments';
const DEAD = 'payments-dead';

interface PaymentJob {
  readonly kind: string;
  readonly rawBody: string;
  readonly secretIndex: number;
}

/** After `boss.start()`, and before any job is sent. */
export async function createQueues(boss: PgBoss, expireInSeconds = 60): Promise<void> {
  await boss.createQueue(DEAD);
  // The service has its 200 and does not retry: 20 attempts with backoff, then a dead-letter queue for an operator to watch.
  const retries = { retryLimit: 20, retryDelay: 1, retryBackoff: true, deadLetter: DEAD };
  await boss.createQueue(QUEUE, { name: QUEUE, ...retries, expireInSeconds });
}

export function createApp({ secret, pool, boss }: { secret: string | undefined; pool: Pool; boss: PgBoss }): Express {
  const idempotency = {
    store: postgresStore(pool),
    // Not the worker's key: under that, the worker would take what is queued for what is done.
    key: (event: WebhookEvent) => `queued ${event.type}:${event.reference}`,
  };
  const app = express();
  app.post(
    '/webhooks/payments',
    paymentWebhook(
      { secret, idempotency },
      {
        'payment.succeeded': async ({ type, rawBody, secretIndex }, { tx }) => {
          const job: PaymentJob = { kind: type, rawBody: Buffer.from(rawBody).toString('base64'), secretIndex };
          const db = { executeSql: (text: string, values: unknown[]) => tx.query(text, values) };
          // pg-boss gives null in place of an error when there is no such queue: that must not become a 200.
          if ((await boss.send(QUEUE, job, { db })) === null) throw new Error('pg-boss did not take the job');
        },
      },
    ),
  );
  return app;
}

export interface WorkerSettings {
  readonly boss: PgBoss;
  readonly pool: Pool;
  readonly confirm: Confirm;
  readonly map?: Handlers;
}

export async function startWorker({ boss, pool, confirm, map = handlers }: WorkerSettings): Promise<void> {
  const dispatcher = createDispatcher<NoEvents, Payment, Transaction, object>({ idempotency: postgresStore(pool), confirm }, map);
  await boss.work<PaymentJob>(QUEUE, { batchSize: 1, pollingIntervalSeconds: 0.5 }, async (jobs) => {
    for (const { data } of jobs) await dispatcher.dispatch({ ...data, rawBody: Buffer.from(data.rawBody, 'base64') }, {});
  });
}
