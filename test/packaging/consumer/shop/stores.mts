import { createProcessor, enqueue } from '@paylink/bullmq';
import {
  createClient,
  isPaylinkError,
  PaylinkError,
  reconcile,
  type Payment,
} from '@paylink/client';
import { paymentWebhook } from '@paylink/express';
import { guardedPool, postgresStore } from '@paylink/postgres';
import { redisStore } from '@paylink/redis';
import { Queue, Worker } from 'bullmq';
import { Redis } from 'ioredis';
import { Pool, type PoolClient } from 'pg';

const secret = process.env['WEBHOOK_SECRET'];
const paylink = createClient({
  baseUrl: process.env['PAYLINK_BASE_URL'],
  apiKey: process.env['PAYLINK_API_KEY'],
});
const idempotency = postgresStore(guardedPool(new Pool()));

export const credited = paymentWebhook(
  { secret, confirm: paylink, idempotency },
  {
    'payment.succeeded': async ({ reference }, { tx, payment }) => {
      const client: Pick<PoolClient, 'query'> = tx;
      const currency: string = payment.currency;
      await client.query('UPDATE orders SET paid_at = now() WHERE reference = $1', [
        reference,
        currency,
      ]);
    },
  },
);

export const leased = paymentWebhook(
  { secret, idempotency: redisStore(new Redis()) },
  ({ reference }, context) => {
    const fence: number = context.fencingToken;
    context.leaseLost.throwIfAborted();
    // @ts-expect-error a lease has no transaction
    void context.tx;
    console.log(reference, fence);
  },
);

const connection = { host: '127.0.0.1', port: 6379 };
const queue = new Queue('payments', { connection });
export const queued = paymentWebhook({ secret }, { 'payment.succeeded': enqueue(queue) });
export const worker = new Worker(
  'payments',
  createProcessor(
    { idempotency, confirm: paylink },
    { 'payment.succeeded': ({ reference }, { tx }) => tx.query('SELECT $1', [reference]) },
  ),
  { connection },
);

export async function read(reference: string): Promise<Payment['status'] | PaylinkError['code']> {
  try {
    await paylink.createPaymentLink({ amount: 15_000, reference, single_use: true });
    await reconcile({
      client: paylink,
      references: [reference],
      idempotency,
      onSuccess: ({ reference: paid }, { tx }) => tx.query('SELECT $1', [paid]),
    });
    return (await paylink.getPayment(reference)).status;
  } catch (error) {
    if (isPaylinkError(error)) return error.code;
    throw error;
  }
}

export const both = (): Promise<unknown> =>
  // @ts-expect-error an amount, or a range that the customer chooses of
  paylink.createPaymentLink({
    amount: 1,
    amount_min: 1,
    amount_max: 2,
    description: 'A basket',
    reference: 'order-42',
  });
