import { createReceiver } from '@paylink/core';
import { diagnose, type Diagnosis } from '@paylink/core/diagnose';
import { createClient } from '@paylink/client';
import { startEmulator, type Emulator } from '@paylink/emulator';
import { paymentWebhook as fetchWebhook } from '@paylink/fetch';
import { paymentWebhook as lambdaWebhook } from '@paylink/lambda';
import { paymentWebhook as nodeWebhook } from '@paylink/node';
import { createPayments, memoryOrders, type Orders } from '@paylink/payments';
import { attacks, signedDelivery, testOrders } from '@paylink/testing';
import { testAdapter } from '@paylink/testing/adapter';

const orders: Orders = {
  find: (reference) => ({ reference, amount: 15_000, currency: 'XOF', paid: false }),
  credit: ({ amount }) => {
    // @ts-expect-error a number, and no any that comes of types that are not there
    const text: string = amount;
    void text;
    return 1;
  },
};
const payments = createPayments({
  client: createClient({ baseUrl: 'http://localhost:4010/api', apiKey: 'sk_live_a.b' }),
  orders,
});
export const receiver = createReceiver({ secret: 'a-secret-of-the-portal' }, payments.receive);
export const explain = (rawBody: Uint8Array): Promise<Diagnosis> =>
  diagnose({ rawBody, signature: '', secret: '' });
export const names: string[] = attacks({ reference: 'order-42' }).map(({ name }) => name);
export const emulator = (): Promise<Emulator> => startEmulator();
export const doors = [createClient, fetchWebhook, lambdaWebhook, nodeWebhook, memoryOrders];
export const tests = [signedDelivery, testOrders, testAdapter];
