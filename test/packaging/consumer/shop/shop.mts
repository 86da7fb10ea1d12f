import http from 'node:http';
import express from 'express';
import {
  createReceiver,
  createVerifier,
  isWebhookError,
  WebhookError,
  type WebhookEvent,
} from '@paylink/core';
import { paymentGate, paymentWebhook, webhookEvent } from '@paylink/express';
import { paymentWebhook as nodeWebhook } from '@paylink/node';
import { createPayments, memoryOrders } from '@paylink/payments';
import { signedDelivery } from '@paylink/testing';

const secret = process.env['WEBHOOK_SECRET'];
const app = express();
const creditOrder = (reference: string): Promise<void> => Promise.resolve(void reference);

app.post(
  '/webhooks/payments',
  paymentWebhook(
    { secret },
    {
      'payment.succeeded': async ({ reference }, { req, signal }) => {
        await creditOrder(reference + (req.params['tenant'] ?? ''));
        signal.throwIfAborted();
      },
    },
  ),
);

const gate = paymentGate({ secret });
app.post('/gate', gate, (req, res) => {
  const event: WebhookEvent = webhookEvent(req);
  res.json({ type: event.type, reference: event.reference });
});

const payments = createPayments({
  client: {
    getPayment: async (reference) => ({
      reference,
      status: 'success',
      amount: 15_000,
      currency: 'XOF',
    }),
  },
  orders: memoryOrders().orders,
});
app.post('/once', paymentWebhook({ secret }, payments.receive));

http.createServer(
  nodeWebhook({ secret }, { 'payment.succeeded': ({ reference }) => creditOrder(reference) }),
);

export async function lowLevel(): Promise<string> {
  const { rawBody, headers } = signedDelivery({ reference: 'order-42' });
  try {
    return (await createVerifier({ secret }).verify(rawBody, headers)).reference;
  } catch (error) {
    if (isWebhookError(error))
      throw new WebhookError(error.code, { status: error.status, cause: error });
    throw error;
  }
}

export const receiver = createReceiver({ secret: ['new', 'old'] }, (event) => event.reference);
