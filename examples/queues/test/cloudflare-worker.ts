/** The example's Worker, with what its tests let go wrong around it. */
import { paymentWebhook } from '@paylink/fetch';
import example, { createWorker, type Env, type Message } from '../src/cloudflare.js';
import { toJob } from '../src/job.js';
import { creditAndCount } from '../src/orders.js';

const worker = createWorker(async (payment, context) => {
  const credited = await creditAndCount(payment, context);
  // Credited, and not committed until the test ends the connection, as the end of a Worker would.
  if (payment.reference.includes('interrupted')) {
    await context.tx.query('SELECT pg_sleep(60) FROM interruptions WHERE NOT done');
  }
  return credited;
});

/** A queue that is down: Miniflare's own cannot be. */
const QUEUES: Record<string, Env['PAYMENTS']> = {
  '/down': { send: () => Promise.reject(new Error('Queue is unavailable')) },
  '/mute': { send: () => new Promise(() => undefined) },
};

/** Messages that were acknowledged for good. */
let acknowledged = 0;

/** A message whose acknowledgement is lost twice, so that the queue delivers it again. */
function forgetful(message: Message): Message {
  const { id, body, attempts } = message;
  const retry = (options: { readonly delaySeconds: number }) => message.retry(options);
  const ack = (): void => {
    if (attempts < 3) return retry({ delaySeconds: 0 });
    acknowledged++;
    message.ack();
  };
  return { id, body, attempts, retry, ack };
}

interface Host {
  readonly env: Env;
  readonly ctx: ExecutionContext;
}

/** What not to do: the reply goes out while the work has only begun, and no message holds it. */
const tooEarly = paymentWebhook(
  { secret: ({ env }: Host) => ({ secret: env.WEBHOOK_SECRET, tenant: false }) },
  (event, { env, ctx }) => {
    const ends = { ack: () => undefined, retry: () => undefined };
    const message = { id: 'none', body: toJob(event), attempts: 1, ...ends };
    ctx.waitUntil(worker.queue({ messages: [message] }, env));
  },
);

interface ExecutionContext {
  waitUntil(work: Promise<unknown>): void;
}

export default {
  async fetch(request: Request, env: Env, ctx: ExecutionContext): Promise<Response> {
    const { pathname } = new URL(request.url);
    if (pathname === '/acknowledged') return Response.json(acknowledged);
    if (pathname === '/wait-until') return tooEarly(request, { env, ctx });
    return example.fetch(request, { ...env, PAYMENTS: QUEUES[pathname] ?? env.PAYMENTS });
  },
  queue: ({ messages }: { readonly messages: readonly Message[] }, env: Env) =>
    worker.queue({ messages: messages.map(forgetful) }, env),
};
