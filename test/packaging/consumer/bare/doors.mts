import { createReceiver } from '@paylink/core';
import { diagnose, type Diagnosis } from '@paylink/core/diagnose';
import { createClient } from '@paylink/client';
import { startEmulator, type Emulator } from '@paylink/emulator';
import { paymentWebhook as fetchWebhook } from '@paylink/fetch';
import { paymentWebhook as lambdaWebhook } from '@paylink/lambda';
import { paymentWebhook as nodeWebhook } from '@paylink/node';
import { createPayments, memoryStore } from '@paylink/payments';
import { migrationSql, postgresStore } from '@paylink/postgres';
import { redisStore } from '@paylink/redis';
import { attacks, auditReceiver, signedDelivery, testPaymentStore } from '@paylink/testing';
import { testAdapter } from '@paylink/testing/adapter';

/** What a driver of one's own has to be, for those who have neither pg's types nor any other's. */
interface Client {
  query(text: string, values?: unknown[]): Promise<{ rowCount: number }>;
  release(error?: Error | boolean): void;
  on(event: 'error', listener: (error: Error) => void): unknown;
}
declare const pool: {
  connect(): Promise<Client>;
  query(query: { text: string }): Promise<unknown>;
};

const UPDATE = 'UPDATE orders SET paid_at = now() WHERE reference = $1';
const payments = createPayments({
  client: { getPayment: async (reference: string) => ({ reference, status: 'success' }) },
  store: postgresStore(pool),
  credit: async ({ reference }, { tx }) => {
    const { rowCount } = await tx.query(UPDATE, [reference]);
    // @ts-expect-error a number, and no any that comes of types that are not there
    const text: string = rowCount;
    void text;
    return rowCount;
  },
});
export const receiver = createReceiver({ secret: 'a-secret-of-the-portal' }, payments);
export const explain = (rawBody: Uint8Array): Promise<Diagnosis> =>
  diagnose({ rawBody, signature: '', secret: '' });
export const names: string[] = attacks({ reference: 'order-42' }).map(({ name }) => name);
export const emulator = (): Promise<Emulator> => startEmulator();
export const doors = [
  createClient,
  fetchWebhook,
  lambdaWebhook,
  nodeWebhook,
  migrationSql,
  redisStore,
  memoryStore,
];
export const tests = [auditReceiver, signedDelivery, testPaymentStore, testAdapter];
