/**
 * Verified events as messages of Cloudflare Queues, in one Worker. The 200 goes out when the queue has the message; the consumer's
 * store on PostgreSQL, through Hyperdrive, is the record of what is done.
 */
import { createClient } from '@paylink/client';
import { createDispatcher, WebhookError, type NoEvents } from '@paylink/core';
import { paymentWebhook } from '@paylink/fetch';
import { postgresStore } from '@paylink/postgres';
import { Pool } from 'pg';
import { fromJob, toJob, type PaymentJob } from './job.js';
import { handlers, type Handlers, type Payment, type Transaction } from './orders.js';

/** What the Worker is bound to. The types are those parts of `@cloudflare/workers-types` that are used. */
export interface Env {
  readonly WEBHOOK_SECRET: string;
  readonly PAYLINK_BASE_URL: string;
  readonly PAYLINK_API_KEY: string;
  readonly PAYMENTS: { send(job: PaymentJob): Promise<unknown> };
  readonly HYPERDRIVE: { readonly connectionString: string };
}

export interface Message {
  readonly id: string;
  readonly body: unknown;
  readonly attempts: number;
  ack(): void;
  retry(options: { readonly delaySeconds: number }): void;
}

const receive = paymentWebhook(
  { secret: ({ env }: { readonly env: Env }) => env.WEBHOOK_SECRET, handlerTimeout: 5_000 },
  {
    'payment.succeeded': async (event, { env }) => {
      try {
        // Awaited, and not given to `waitUntil`: the reply says that the queue has it.
        await env.PAYMENTS.send(toJob(event));
      } catch (cause) {
        throw new WebhookError('store_unavailable', { message: 'the queue did not take the message', cause });
      }
    },
  },
);

/** 1 s, 2 s, 4 s … to a quarter of an hour: `max_retries: 100`, the most that there is, is about a day. */
const delayOf = ({ attempts }: Message): number => Math.min(2 ** (attempts - 1), 900);

async function consume(messages: readonly Message[], env: Env, map: Handlers): Promise<void> {
  // For each batch: a Worker may not use a connection of another invocation, and Hyperdrive keeps those to the database.
  const pool = new Pool({ connectionString: env.HYPERDRIVE.connectionString, max: 1 });
  pool.on('error', (error) => console.error('an idle connection broke', error.message));
  const confirm = createClient({ baseUrl: env.PAYLINK_BASE_URL, apiKey: env.PAYLINK_API_KEY });
  const dispatcher = createDispatcher<NoEvents, Payment, Transaction, object>({ idempotency: postgresStore(pool), confirm }, map);
  try {
    for (const message of messages) {
      try {
        await dispatcher.dispatch(fromJob(message.body), {});
        // Each on its own: the queue delivers a batch that throws again as a whole.
        message.ack();
      } catch (error) {
        console.error('payment job failed', message.id, error instanceof Error ? error.message : typeof error);
        message.retry({ delaySeconds: delayOf(message) });
      }
    }
  } finally {
    await pool.end();
  }
}

export function createWorker(map: Handlers = handlers) {
  return {
    fetch: (request: Request, env: Env): Promise<Response> => receive(request, { env }),
    queue: ({ messages }: { readonly messages: readonly Message[] }, env: Env): Promise<void> => consume(messages, env, map),
  };
}

export default createWorker();
