import { createServer, type Server } from 'node:http';
import { paymentWebhook } from '@paylink/koa';
import Koa, { type Middleware } from 'koa';
import getRawBody from 'raw-body';
import { SECRET } from '../delivery.js';
import type { Host } from './host.js';
import { handlers, receiveByHand } from './merchant.js';

const drain: Middleware = async (ctx) => {
  await new Promise((resolve) => ctx.req.resume().on('end', resolve));
  ctx.body = { received: true };
};

const checkByHand: Middleware = async (ctx) => {
  const body = await getRawBody(ctx.req, { length: ctx.get('content-length'), limit: '100kb' });
  if (receiveByHand(body, ctx.get('x-service-signature'), ctx.get('x-service-event'))) {
    ctx.body = { received: true };
  } else {
    ctx.status = 401;
    ctx.body = { error: 'invalid_signature' };
  }
};

export const host: Host = {
  bare: () => serve(drain),
  'by hand': () => serve(checkByHand),
  paylink: () => serve(paymentWebhook({ secret: SECRET }, handlers)),
};

function serve(middleware: Middleware): Server {
  const listener = new Koa().use(middleware).callback();
  return createServer((req, res) => void listener(req, res));
}
