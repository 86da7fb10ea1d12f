import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { paymentWebhook } from '@paylink/node';
import getRawBody from 'raw-body';
import { SECRET } from '../delivery.js';
import type { Host } from './host.js';
import { handlers, HEADERS, RECEIVED, receiveByHand } from './merchant.js';

export const host: Host = {
  bare: () => createServer(drain),
  'by hand': () =>
    createServer((req, res) => {
      checkByHand(req, res).catch(() => res.writeHead(400).end());
    }),
  paylink: () => createServer(paymentWebhook({ secret: SECRET }, handlers)),
};

function drain(req: IncomingMessage, res: ServerResponse): void {
  req.resume().on('end', () => {
    res.writeHead(200, HEADERS).end(RECEIVED);
  });
}

async function checkByHand(req: IncomingMessage, res: ServerResponse): Promise<void> {
  const {
    'content-length': length,
    'x-service-signature': signature,
    'x-service-event': kind,
  } = req.headers;
  const body = await getRawBody(req, { length: length ?? null, limit: '100kb' });
  if (receiveByHand(body, signature as string | undefined, kind as string | undefined)) {
    res.writeHead(200, HEADERS).end(JSON.stringify({ received: true }));
  } else {
    res.writeHead(401, { 'content-type': 'application/json' }).end('{"error":"invalid_signature"}');
  }
}
