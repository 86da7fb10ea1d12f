// A merchant's library re-exports these: each type must have a name that a declaration can write.
import { createProcessor, enqueue } from '@paylink/bullmq';
import { createClient, isPaylinkError } from '@paylink/client';
import { startEmulator } from '@paylink/emulator';
import { createPayments, identify, memoryStore, readPayments } from '@paylink/payments';
import { Turns, withRetries } from '@paylink/payments/store';
import { migrationSql, postgresStore } from '@paylink/postgres';
import { redisStore } from '@paylink/redis';
import { attacks, auditReceiver, signedDelivery, testPaymentStore } from '@paylink/testing';
import type { Queue } from 'bullmq';
import type { Redis } from 'ioredis';
import type { Pool } from 'pg';

declare const pool: Pool;
declare const queue: Queue;
declare const redis: Redis;

export const client = createClient({ baseUrl: '', apiKey: '' });
export const { createPaymentLink, getPayment } = client;
export const newLink = () => client.createPaymentLink({ reference: 'order-42', amount: 1 });
export const succeeded = async () => {
  const payment = await client.getPayment('order-42');
  return payment.status === 'success' ? payment : undefined;
};

export const store = postgresStore(pool);
export const { inbox, run, isDone, migrate, forget } = store;
export const listed = () => store.inbox?.list();
export const stores = [memoryStore(), redisStore(redis)] as const;
export const payments = createPayments({ client, store, credit: () => 1 });
export const { receive, settle, reconcile } = payments;
export const failures = async () => (await payments.reconcile(['order-42'])).errors;
export const readings = readPayments({ client, references: ['order-42'] });
export const identity = identify({ kind: 'payment.succeeded', reference: 'order-42' });
export const kit = { turns: new Turns(), withRetries };
export const processor = createProcessor(payments);
export const enqueued = enqueue(queue);

export const delivery = signedDelivery();
export const deliveries = attacks().map((attack) => attack.delivery);
export const causes = async () => (await auditReceiver({ url: '', secret: '' })).causes;
export const emulator = () => startEmulator();
export const paid = async () => (await startEmulator()).pay('order-42');
export const created = async () =>
  (await startEmulator()).createLink({ reference: 'order-42', amount: 1 });
export const attempts = async () =>
  (await startEmulator()).deliveries().flatMap(({ attempts }) => attempts);
export const functions = { isPaylinkError, migrationSql, testPaymentStore };
