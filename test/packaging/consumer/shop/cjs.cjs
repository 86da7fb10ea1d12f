const { createServer } = require('node:http');
const express = require('express');
const { isWebhookError, verifySignature } = require('@paylink/core');
const { paymentWebhook } = require('@paylink/express');
const { paymentWebhook: nodeWebhook } = require('@paylink/node');
const deliver = require('./deliver.cjs');

const secret = 'a-secret-of-the-portal';
const listening = (server) =>
  new Promise((resolve) => server.once('listening', () => resolve(server)));

deliver(
  (handlers) => {
    const app = express();
    app.post('/webhooks/payments', paymentWebhook({ secret }, handlers));
    return listening(app.listen(0, '127.0.0.1'));
  },
  (handlers) => listening(createServer(nodeWebhook({ secret }, handlers)).listen(0, '127.0.0.1')),
);
verifySignature(new Uint8Array(), 'forged', secret).catch((error) => {
  if (!isWebhookError(error)) throw error;
});
