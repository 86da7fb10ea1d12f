/**
 * Verified events as messages of Cloudflare Queues, in one Worker. The 200 goes out when the queue
 * has the message. The consumer's store on PostgreSQL, by Hyperdrive, is the record of the credits.
 */
import { createClient } from '@paylink/client';
import { paymentWebhook } from '@paylink/fetch';
import { WebhookError } from '@paylink/payments';
import { Pool } from 'pg';
import { fromJob, toJob, type PaymentJob } from './job.js';
import { createWorkerPayments, type Credit } from './orders.js';

/** The bindings of the Worker, as far as it uses them. */
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

interface Host {
  readonly env: Env;
}

const receive = paymentWebhook(
  {
    secret: ({ env }: Host) => ({ secret: env.WEBHOOK_SECRET, tenant: false }),
    handlerTimeout: 5_000,
  },
  async (event, { env }) => {
    try {
      // Awaited, and not given to `waitUntil`: the reply says that the queue has the message.
      await env.PAYMENTS.send(toJob(event));
    } catch (cause) {
      const message = 'the queue did not take the message';
      throw new WebhookError('store_unavailable', { message, cause });
    }
  },
);

/** 1 s, 2 s, 4 s … to a quarter of an hour: the highest `max_retries`, 100, takes about a day. */
const delayOf = ({ attempts }: Message): number => Math.min(2 ** (attempts - 1), 900);

async function consume(messages: readonly Message[], env: Env, credit?: Credit): Promise<void> {
  // Made for each batch: a Worker may not use a connection of another invocation.
  const pool = new Pool({ connectionString: env.HYPERDRIVE.connectionString, max: 1 });
  pool.on('error', (error) => console.error('an idle connection broke', error.message));
  const client = createClient({ baseUrl: env.PAYLINK_BASE_URL, apiKey: env.PAYLINK_API_KEY });
  const payments = createWorkerPayments({ pool, client, ...(credit && { credit }) });
  try {
    for (const message of messages) {
      try {
        await payments.receive(fromJob(message.body));
        // Each on its own: the queue delivers a batch that throws again as a whole.
        message.ack();
      } catch (error) {
        const reason = error instanceof Error ? error.message : typeof error;
        console.error('payment job failed', message.id, reason);
        message.retry({ delaySeconds: delayOf(message) });
      }
    }
  } finally {
    await pool.end();
  }
}

interface Batch {
  readonly messages: readonly Message[];
}

export function createWorker(credit?: Credit) {
  return {
    fetch: (request: Request, env: Env): Promise<Response> => receive(request, { env }),
    queue: ({ messages }: Batch, env: Env): Promise<void> => consume(messages, env, credit),
  };
}

export default createWorker();
