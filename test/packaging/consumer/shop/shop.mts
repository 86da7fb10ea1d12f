import http from 'node:http';
import express from 'express';
import {
  createReceiver,
  createVerifier,
  isWebhookError,
  memoryStore,
  WebhookError,
  type WebhookEvent,
} from '@paylink/core';
import { paymentWebhook, webhookEvent } from '@paylink/express';
import { paymentWebhook as nodeWebhook } from '@paylink/node';
import { signedDelivery } from '@paylink/testing';

const secret = process.env['WEBHOOK_SECRET'];
const app = express();
const creditOrder = (reference: string): Promise<void> => Promise.resolve(void reference);

app.post(
  '/webhooks/payments',
  paymentWebhook(
    { secret },
    {
      'payment.succeeded': async ({ reference }, { req, res, signal }) => {
        await creditOrder(reference);
        res.setHeader('x-tenant', req.params['tenant'] ?? '');
        signal.throwIfAborted();
      },
    },
  ),
);

const gate = paymentWebhook({ secret });
app.post('/gate', gate, (req, res) => {
  const event: WebhookEvent = webhookEvent(req);
  const type: 'payment.succeeded' = gate.event(req).type;
  res.json({ type, reference: event.reference });
});

app.post(
  '/once',
  paymentWebhook({ secret, idempotency: memoryStore() }, (event, context) => {
    // @ts-expect-error with a store nothing may be sent before the commit
    context.res.end();
    return creditOrder(event.reference);
  }),
);

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
