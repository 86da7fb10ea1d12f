import { createProcessor, enqueue } from '@paylink/bullmq';
import { createClient, isPaylinkError, PaylinkError, type Payment } from '@paylink/client';
import { paymentWebhook } from '@paylink/express';
import { createPayments } from '@paylink/payments';
import { postgresStore } from '@paylink/postgres';
import { redisStore } from '@paylink/redis';
import { Queue, Worker } from 'bullmq';
import { Redis } from 'ioredis';
import { Pool } from 'pg';

const secret = process.env['WEBHOOK_SECRET'];
const paylink = createClient({
  baseUrl: process.env['PAYLINK_BASE_URL'],
  apiKey: process.env['PAYLINK_API_KEY'],
});
const UPDATE = 'UPDATE orders SET paid_at = now() WHERE reference = $1';
const payments = createPayments({
  client: paylink,
  store: postgresStore(new Pool()),
  credit: async ({ reference, currency }, { tx }) => {
    const text: string = currency;
    return (await tx.query(UPDATE, [reference, text])).rowCount;
  },
});
export const credited = paymentWebhook({ secret }, payments);

export const leased = createPayments({
  client: paylink,
  store: redisStore(new Redis()),
  credit: async (_payment, { tx }) => {
    tx.leaseLost.throwIfAborted();
    // @ts-expect-error a lease has no transaction
    void tx.query;
    return tx.fencingToken;
  },
});

const connection = { host: '127.0.0.1', port: 6379 };
const queue = new Queue('payments', { connection });
export const queued = paymentWebhook({ secret }, { 'payment.succeeded': enqueue(queue) });
export const worker = new Worker('payments', createProcessor(payments), { connection });

export async function read(reference: string): Promise<Payment['status'] | PaylinkError['code']> {
  try {
    await paylink.createPaymentLink({ amount: 15_000, reference, single_use: true });
    await payments.reconcile([reference]);
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
