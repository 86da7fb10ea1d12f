// A merchant's library re-exports these: each type must have a name that a declaration can write.
import { createProcessor, enqueue } from '@paylink/bullmq';
import { createClient, isPaylinkError } from '@paylink/client';
import { startEmulator } from '@paylink/emulator';
import { paymentGate, paymentWebhook } from '@paylink/express';
import { createPayments, memoryOrders } from '@paylink/payments';
import { attacks, auditReceiver, signedDelivery, testOrders } from '@paylink/testing';
import type { Queue } from 'bullmq';

declare const queue: Queue;

export const client = createClient({ baseUrl: '', apiKey: '' });
export const { createPaymentLink, getPayment } = client;
export const newLink = () => client.createPaymentLink({ reference: 'order-42', amount: 1 });
export const succeeded = async () => {
  const payment = await client.getPayment('order-42');
  return payment.status === 'success' ? payment : undefined;
};

export const memory = memoryOrders();
export const payments = createPayments({ client, orders: memory.orders });
export const { receive, settle, reconcile, verify, explain } = payments;
export const settled = () => payments.settle('order-42');
export const failures = async () => (await payments.reconcile(['order-42'])).errors;
export const processor = createProcessor(payments);
export const enqueued = enqueue(queue);
export const webhook = paymentWebhook({ secret: 'a-secret-of-the-portal' }, receive);
export const gate = paymentGate({ secret: 'a-secret-of-the-portal' });

export const delivery = signedDelivery();
export const deliveries = attacks().map((attack) => attack.delivery);
export const causes = async () => (await auditReceiver({ url: '', secret: '' })).causes;
export const emulator = () => startEmulator();
export const paid = async () => (await startEmulator()).pay('order-42');
export const created = async () =>
  (await startEmulator()).createLink({ reference: 'order-42', amount: 1 });
export const attempts = async () =>
  (await startEmulator()).deliveries().flatMap(({ attempts }) => attempts);
export const functions = { isPaylinkError, testOrders };
