import { createServer, type Server } from 'node:http';
import { paymentWebhook } from '@paylink/express';
import express, { type RequestHandler } from 'express';
import { SECRET, URL_PATH } from '../delivery.js';
import type { Host } from './host.js';
import { handlers, HEADERS, RECEIVED, receiveByHand } from './merchant.js';

const drain: RequestHandler = (req, res) => {
  req.resume().on('end', () => {
    res.writeHead(200, HEADERS).end(RECEIVED);
  });
};

const checkByHand: RequestHandler = (req, res) => {
  if (receiveByHand(req.body as Buffer, req.get('x-service-signature'), req.get('x-service-event')))
    res.json({ received: true });
  else res.status(401).json({ error: 'invalid_signature' });
};

export const host: Host = {
  bare: () => serve(drain),
  'by hand': () => serve(express.raw({ type: '*/*' }), checkByHand),
  paylink: () => serve(paymentWebhook({ secret: SECRET }, handlers)),
};

function serve(...middleware: RequestHandler[]): Server {
  return createServer(express().post(URL_PATH, ...middleware));
}
