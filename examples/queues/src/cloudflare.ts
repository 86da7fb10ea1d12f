/**
 * Queues notifications in Cloudflare Queues, in one Worker, with PostgreSQL through Hyperdrive. The
 * 200 goes out once the queue has stored the message.
 */
import { createClient } from '@paylink/client';
import { paymentWebhook } from '@paylink/fetch';
import { createPayments, WebhookError, type Order, type Payments } from '@paylink/payments';
import { Pool } from 'pg';

type Event = Parameters<Payments['receive']>[0];

interface Env {
  readonly WEBHOOK_SECRET: string;
  readonly PAYLINK_BASE_URL: string;
  readonly PAYLINK_API_KEY: string;
  readonly PAYMENTS: { send(event: Event): Promise<unknown> };
  readonly HYPERDRIVE: { readonly connectionString: string };
}

interface Message {
  readonly body: unknown;
  readonly attempts: number;
  ack(): void;
  retry(options: { readonly delaySeconds: number }): void;
}

const webhook = paymentWebhook(
  { secret: ({ env }: { readonly env: Env }) => ({ secret: env.WEBHOOK_SECRET, tenant: null }) },
  async ({ type, reference, tenant }, { env }) => {
    try {
      // Awaited instead of passed to `waitUntil`, because the 200 means that the message is stored.
      await env.PAYMENTS.send({ type, reference, tenant });
    } catch (cause) {
      throw new WebhookError('orders_unavailable', { cause });
    }
  },
);

function paymentsOf(env: Env, pool: Pool): Payments {
  return createPayments({
    client: createClient({ baseUrl: env.PAYLINK_BASE_URL, apiKey: env.PAYLINK_API_KEY }),
    orders: {
      async find(reference) {
        const { rows } = await pool.query<Order>(
          'SELECT reference, amount, currency, paid_at IS NOT NULL AS paid FROM orders WHERE reference = $1',
          [reference],
        );
        return rows[0];
      },
      async credit({ reference, amount, currency }) {
        const { rowCount } = await pool.query(
          'UPDATE orders SET paid_at = now() WHERE reference = $1 AND amount = $2 AND currency = $3 AND paid_at IS NULL',
          [reference, amount, currency],
        );
        return rowCount;
      },
    },
  });
}

export default {
  fetch: (request: Request, env: Env): Promise<Response> => webhook(request, { env }),

  async queue({ messages }: { readonly messages: readonly Message[] }, env: Env): Promise<void> {
    // Created for each batch, because a Worker must not use another invocation's connection. The
    // Hyperdrive configuration needs --caching-disabled, or find returns a row from its cache.
    const pool = new Pool({ connectionString: env.HYPERDRIVE.connectionString, max: 2 });
    pool.on('error', (error) => console.error('an idle connection broke', error.message));
    const payments = paymentsOf(env, pool);
    for (const message of messages) {
      try {
        await payments.receive(message.body as Event);
        message.ack();
      } catch (error) {
        console.error('payment job failed', (error as Error).message);
        message.retry({ delaySeconds: Math.min(2 ** (message.attempts - 1), 900) });
      }
    }
    await pool.end();
  },
};
