import type { Server } from 'node:http';
import { createAdaptorServer } from '@hono/node-server';
import { paymentWebhook } from '@paylink/hono';
import { Hono, type Handler } from 'hono';
import { SECRET, URL_PATH } from '../delivery.js';
import type { Host } from './host.js';
import { handlers, receiveByHand } from './merchant.js';

const drain: Handler = async (c) => {
  await c.req.arrayBuffer();
  return c.json({ received: true });
};

const checkByHand: Handler = async (c) => {
  const body = Buffer.from(await c.req.text());
  const received = receiveByHand(
    body,
    c.req.header('x-service-signature'),
    c.req.header('x-service-event'),
  );
  return received ? c.json({ received: true }) : c.json({ error: 'invalid_signature' }, 401);
};

export const host: Host = {
  bare: () => serve(drain),
  'by hand': () => serve(checkByHand),
  paylink: () => serve(paymentWebhook({ secret: SECRET }, handlers)),
};

function serve(handler: Handler): Server {
  return createAdaptorServer(new Hono().post(URL_PATH, handler)) as Server;
}
