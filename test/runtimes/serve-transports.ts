/**
 * Serves every host over every transport of a runtime, behind code that makes a body wait. Prints
 * `{ ports }`, with the names of the hosts and transports.
 */
import 'reflect-metadata';
import { readFileSync } from 'node:fs';
import http, { type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http';
import http2 from 'node:http2';
import https from 'node:https';
import type { AddressInfo, Server } from 'node:net';
import { PassThrough, Transform } from 'node:stream';
import { createAdaptorServer } from '@hono/node-server';
import { Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { ExpressAdapter } from '@nestjs/platform-express';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import { paymentWebhook as expressWebhook } from '@paylink/express';
import { paymentWebhook as fastifyWebhook } from '@paylink/fastify';
import { paymentWebhook as honoWebhook } from '@paylink/hono';
import { paymentWebhook as koaWebhook } from '@paylink/koa';
import { PaymentWebhookModule } from '@paylink/nest';
import { paymentWebhook as nodeWebhook } from '@paylink/node';
import express from 'express';
import fastify from 'fastify';
import { Hono } from 'hono';
import Koa from 'koa';
import { FRONTS, SECRET, TRANSPORTS, type Front, type Transport } from './transports.js';

type Look = (req: IncomingMessage) => Promise<void> | undefined;

const [, , keyPath = '', certPath = ''] = process.argv;
const tls = { key: readFileSync(keyPath), cert: readFileSync(certPath) };

const sleep = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 50));
const ignore = (..._: unknown[]): undefined => undefined;

/** What stands in front of a webhook that reads node:http's request. */
const LOOKS: Partial<Record<Front, Look>> = {
  'a session store': sleep,
  'a data listener': (req) => ignore(req.on('data', ignore)),
  'a readable listener': (req) => ignore(req.on('readable', ignore)),
  'a readable listener and a session store': (req) => (req.on('readable', ignore), sleep()),
  'a pause and a session store': (req) => (req.pause(), sleep()),
};
const frontOf = (url = ''): Front =>
  FRONTS.find((_, index) => url.endsWith(`/${index}`)) ?? 'nothing';
const pathOf = (front: Front): string => `/${FRONTS.indexOf(front)}`;

/** Returns nothing for a front that does not wait, so that its host goes on in the same tick. */
function look(req: IncomingMessage): Promise<void> | undefined {
  return LOOKS[frontOf(req.url)]?.(req);
}

function optionsOf(front: Front) {
  const isTenant = front === 'a tenant that is looked up';
  const answer = { secret: SECRET, tenant: 'shop' };
  return { bodyTimeout: 3_000, secret: isTenant ? () => sleep().then(() => answer) : SECRET };
}

function listenerOf(transport: Transport, listener: RequestListener): Server {
  const compatible = listener as unknown as Parameters<typeof http2.createServer>[1];
  if (transport === 'HTTP/2') return http2.createServer({}, compatible);
  if (transport === 'HTTP/2 over TLS') return http2.createSecureServer(tls, compatible);
  if (transport === 'TLS') return https.createServer(tls, listener);
  return http.createServer(transport === 'a small buffer' ? { highWaterMark: 1 } : {}, listener);
}

function onNode(transport: Transport): Server {
  const webhooks = FRONTS.map((front) => nodeWebhook(optionsOf(front), ignore));
  return listenerOf(transport, (req: IncomingMessage, res: ServerResponse) => {
    const answer = (): void => void webhooks[FRONTS.indexOf(frontOf(req.url))]!(req, res);
    const waiting = look(req);
    if (waiting === undefined) answer();
    else void waiting.then(answer);
  });
}

function onExpress(transport: Transport): Server {
  const app = express();
  app.use((req, _res, next) => {
    const waiting = look(req);
    if (waiting === undefined) next();
    else void waiting.then(next);
  });
  for (const front of FRONTS) app.post(pathOf(front), expressWebhook(optionsOf(front), ignore));
  return listenerOf(transport, app);
}

function onKoa(transport: Transport): Server {
  const app = new Koa();
  const webhooks = FRONTS.map((front) => koaWebhook(optionsOf(front), ignore));
  app.use(async ({ req }, next) => {
    const waiting = look(req);
    if (waiting !== undefined) await waiting;
    await next();
  });
  app.use(async (ctx, next) => {
    await webhooks[FRONTS.indexOf(frontOf(ctx.url))]!(ctx, next);
  });
  return listenerOf(transport, app.callback());
}

async function onFastify(transport: Transport): Promise<Server> {
  const app = fastify({
    serverFactory: (listener) => listenerOf(transport, listener) as http.Server,
  });
  app.addHook('onRequest', async ({ raw }) => {
    await look(raw);
  });
  app.addHook('preParsing', (request, _reply, payload, done) => {
    const front = frontOf(request.url);
    if (front === 'a hook that passes single bytes') return done(null, payload.pipe(bytes()));
    if (front !== 'a hook with a small buffer') return done(null, payload);
    done(null, payload.pipe(new PassThrough({ highWaterMark: 1 })));
  });
  for (const front of FRONTS) {
    app.register(fastifyWebhook({ url: pathOf(front), ...optionsOf(front) }, ignore));
  }
  await app.ready();
  return app.server;
}

function bytes(): Transform {
  return new Transform({
    highWaterMark: 1,
    transform(piece: Buffer, _encoding, done) {
      for (const byte of piece) this.push(Buffer.of(byte));
      done();
    },
  });
}

function honoApp(): Hono {
  const app = new Hono();
  app.use(async (c, next) => {
    const { incoming } = Object(c.env) as { readonly incoming?: IncomingMessage };
    const waiting = incoming && look(incoming);
    if (waiting !== undefined) await waiting;
    await next();
  });
  for (const front of FRONTS) app.post(pathOf(front), honoWebhook(optionsOf(front), ignore));
  return app;
}

function onHono(transport: Transport): Server {
  const { fetch } = honoApp();
  const createServer = (_options: unknown, listener: RequestListener): Server =>
    listenerOf(transport, listener);
  return createAdaptorServer({ fetch, createServer: createServer as typeof http.createServer });
}

async function onNest(transport: Transport, platform: 'express' | 'fastify'): Promise<Server> {
  const imports = FRONTS.map((front) =>
    PaymentWebhookModule.forRootAsync({
      useFactory: () => ({ url: pathOf(front), ...optionsOf(front), handlers: ignore }),
    }),
  );
  // oxlint-disable-next-line typescript/no-extraneous-class -- the form of a module of Nest
  class Shop {}
  Module({ imports })(Shop);
  const options = { logger: false, ...(transport === 'TLS' && { httpsOptions: tls }) } as const;
  if (platform === 'express') {
    const app = await NestFactory.create(Shop, new ExpressAdapter(), options);
    await app.init();
    return app.getHttpServer() as Server;
  }
  const factory = {
    serverFactory: (listener: unknown) =>
      listenerOf(transport, listener as RequestListener) as http.Server,
  };
  const adapter = new FastifyAdapter(factory);
  const app = await NestFactory.create(Shop, adapter, { logger: false });
  await app.init();
  await adapter.getInstance().ready();
  return app.getHttpServer() as Server;
}

const HOSTS: Readonly<Record<string, (transport: Transport) => Server | Promise<Server>>> = {
  'node:http': onNode,
  Express: onExpress,
  Koa: onKoa,
  Fastify: onFastify,
  Hono: onHono,
  'NestJS on Express': (transport) => onNest(transport, 'express'),
  'NestJS on Fastify': (transport) => onNest(transport, 'fastify'),
};

async function listen(server: Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return (server.address() as AddressInfo).port;
}

const ports: Record<string, number> = {};
for (const [host, create] of Object.entries(HOSTS)) {
  for (const transport of TRANSPORTS) {
    // Express needs http.IncomingMessage.
    if (host.endsWith('Express') && transport.startsWith('HTTP/2')) continue;
    ports[`${host} ${transport}`] = await listen(await create(transport));
  }
}
console.log(JSON.stringify({ ports }));
