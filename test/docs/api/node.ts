import { createServer } from 'node:http';
import { createReceiver } from '@paylink/core';
import { copyBodies, deliveryOf, paymentWebhook, respond, writeReply } from '@paylink/node';
import { payments } from './shop.js';

const secret = process.env['WEBHOOK_SECRET'];

// #region paymentWebhook
createServer(paymentWebhook({ secret }, payments.receive)).listen(3000);
// #endregion

const receiver = createReceiver({ secret }, payments.receive);

// #region respond
createServer((req, res) => void respond(receiver, req, res, { req }));
// #endregion

// #region deliveryOf
createServer(async (req, res) => {
  const reply = await receiver.receive(deliveryOf(req), { req });
  await writeReply(req, res, reply);
});
// #endregion

// #region writeReply
createServer(async (req, res) => {
  await writeReply(req, res, { status: 404, headers: {}, body: '' });
});
// #endregion

// #region copyBodies
const server = createServer();
copyBodies(server, '/webhooks/payments', 65_536); // before other code reads the bytes
// #endregion
