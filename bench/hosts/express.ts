import { createServer, type Server } from 'node:http';
import { paymentWebhook } from '@paylink/express';
import express, { type RequestHandler } from 'express';
import { isSigned } from '../by-hand.js';
import { SECRET, URL_PATH } from '../delivery.js';
import type { Host } from './host.js';

const RECEIVED = '{"received":true}';
const HEADERS = { 'content-type': 'application/json', 'content-length': RECEIVED.length };

const drain: RequestHandler = (req, res) => {
  req.resume().on('end', () => {
    res.writeHead(200, HEADERS).end(RECEIVED);
  });
};

const checkByHand: RequestHandler = (req, res) => {
  const body = req.body as Buffer;
  if (!isSigned(body, req.get('x-service-signature') ?? '', SECRET)) {
    res.status(401).json({ error: 'invalid_signature' });
    return;
  }
  const payload = JSON.parse(body.toString()) as { reference: string };
  if (req.get('x-service-event') === 'payment.succeeded') credit(payload.reference);
  res.json({ received: true });
};

export const host: Host = {
  bare: () => serve(drain),
  byHand: () => serve(express.raw({ type: '*/*' }), checkByHand),
  paylink: () => serve(paymentWebhook({ secret: SECRET }, { 'payment.succeeded': ({ reference }) => credit(reference) })),
};

function serve(...handlers: RequestHandler[]): Server {
  return createServer(express().post(URL_PATH, ...handlers));
}

function credit(reference: string): void {
  if (reference === '') throw new Error('no reference');
}
