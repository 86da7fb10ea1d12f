import { createServer } from 'node:http';
import express from 'express';
import { isWebhookError, verifySignature } from '@paylink/core';
import { paymentWebhook } from '@paylink/express';
import { paymentWebhook as nodeWebhook } from '@paylink/node';
import deliver from './deliver.cjs';

const secret = 'a-secret-of-the-portal';
const listening = (server) =>
  new Promise((resolve) => server.once('listening', () => resolve(server)));

await deliver(
  (handlers) => {
    const app = express();
    app.post('/webhooks/payments', paymentWebhook({ secret }, handlers));
    return listening(app.listen(0, '127.0.0.1'));
  },
  (handlers) => listening(createServer(nodeWebhook({ secret }, handlers)).listen(0, '127.0.0.1')),
);
await verifySignature(new Uint8Array(), 'forged', secret).catch((error) => {
  if (!isWebhookError(error)) throw error;
});
