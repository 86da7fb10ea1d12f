import { createServer } from 'node:http';
import { createReceiver } from '@paylink/core';
import { copyBody, deliveryOf, paymentWebhook, respond, writeReply } from '@paylink/node';
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

// #region copyBody
createServer(async (req, res) => {
  copyBody(req, 65_536); // before other code listens for the bytes
  await respond(receiver, req, res, { req });
});
// #endregion
