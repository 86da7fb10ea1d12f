/**
 * `payments` as the handlers of every adapter, for one merchant and for several merchants by path.
 * Also checks that each call compiles.
 */
import 'reflect-metadata';
import { createServer, type RequestListener, type Server } from 'node:http';
import { Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { ExpressAdapter } from '@nestjs/platform-express';
import * as express from '@paylink/express';
import * as fastify from '@paylink/fastify';
import * as fetchHost from '@paylink/fetch';
import * as hono from '@paylink/hono';
import * as koa from '@paylink/koa';
import * as lambda from '@paylink/lambda';
import { PaymentWebhookModule } from '@paylink/nest';
import * as next from '@paylink/next';
import * as pages from '@paylink/next/pages';
import * as node from '@paylink/node';
import { createPayments, memoryOrders, type Payments } from '@paylink/payments';
import { signedDelivery, type SignedDelivery } from '@paylink/testing';
import expressFramework from 'express';
import fastifyFramework from 'fastify';
import { Hono } from 'hono';
import Koa from 'koa';
import type { NextApiRequest, NextApiResponse } from 'next';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { listening } from './hosts/host.js';

const SECRETS = new Map([
  ['acme', 'the-webhook-secret-of-acme'],
  ['bolt', 'the-webhook-secret-of-bolt'],
]);
const logger = { warn: () => undefined, error: () => undefined };

const servers: Server[] = [];
/** The service's statuses, by merchant and reference. */
let statuses: Map<string, string>;
let credited: string[];
let asked: string[];

beforeEach(() => {
  statuses = new Map();
  credited = [];
  asked = [];
});
afterEach(() => {
  for (const server of servers.splice(0)) server.close();
});

/** Returns the merchant of a path, ignoring the case: `/Acme/webhook` is `acme`. */
function merchantAt(path: string | undefined): { secret: string | undefined; tenant: string } {
  const tenant = /^\/?([^/]*)/.exec(path ?? '')![1]!.toLowerCase();
  return { secret: SECRETS.get(tenant), tenant };
}

/** Payments of one order number for each merchant. */
function paymentsOf(reference: string): Payments {
  const { orders, add } = memoryOrders();
  for (const tenant of SECRETS.keys()) add({ reference, amount: 500, currency: 'XOF', tenant });
  return createPayments({
    client: (tenant) => ({
      async getPayment() {
        asked.push(`${tenant} ${reference}`);
        const status = statuses.get(`${tenant} ${reference}`);
        if (status === undefined) throw Object.assign(new Error('not found'), { status: 404 });
        return { reference, status, amount: 500, currency: 'XOF' };
      },
    }),
    orders: {
      ...orders,
      credit: async (payment, context) => {
        const changed = await orders.credit(payment, context);
        if (changed === 1) credited.push(`${context.tenant} ${payment.reference}`);
        return changed;
      },
    },
    logger,
  });
}

type Send = (path: string, delivery: SignedDelivery) => Promise<number>;

async function overSocket(listener: RequestListener): Promise<Send> {
  const server = createServer(listener);
  servers.push(server);
  const { port } = await listening(server);
  return async (path, delivery) => (await delivery.send(`http://127.0.0.1:${port}${path}`)).status;
}

const adapters: Readonly<Record<string, (payments: Payments) => Promise<Send>>> = {
  'node:http': (payments) => {
    const webhook = node.paymentWebhook(
      { secret: ({ req }) => merchantAt(req.url), logger },
      payments.receive,
    );
    return overSocket((req, res) => void webhook(req, res));
  },
  Express: (payments) => {
    const secret = ({ req }: express.ExpressHost) => merchantAt(String(req.params['tenant']));
    const webhook = express.paymentWebhook({ secret, logger }, payments.receive);
    return overSocket(expressFramework().post('/:tenant/webhook', webhook));
  },
  Fastify: async (payments) => {
    const app = fastifyFramework();
    const secret = ({ request }: fastify.FastifyHost) =>
      merchantAt((request.params as { tenant: string }).tenant);
    await app.register(
      fastify.paymentWebhook({ url: '/:tenant/webhook', secret, logger }, payments.receive),
    );
    return async (path, delivery) => (await app.inject(delivery.toInject(path))).statusCode;
  },
  Koa: (payments) => {
    const app = new Koa();
    app.use(
      koa.paymentWebhook({ secret: ({ req }) => merchantAt(req.url), logger }, payments.receive),
    );
    const callback = app.callback();
    return overSocket((req, res) => void callback(req, res));
  },
  Hono: async (payments) => {
    const secret = ({ req }: hono.HonoHost) => merchantAt(req.param('tenant'));
    const app = new Hono().post(
      '/:tenant/webhook',
      hono.paymentWebhook({ secret, logger }, payments.receive),
    );
    return async (path, delivery) =>
      (await app.request(delivery.toRequest(`http://localhost${path}`))).status;
  },
  Fetch: async (payments) => {
    const secret = ({ request }: fetchHost.FetchHost) => merchantAt(new URL(request.url).pathname);
    const handle = fetchHost.paymentWebhook({ secret, logger }, payments.receive);
    return async (path, delivery) =>
      (await handle(delivery.toRequest(`http://localhost${path}`))).status;
  },
  'Next.js, App Router': async (payments) => {
    const secret = async ({ params }: next.NextHost) =>
      merchantAt(String((await params)?.['tenant']));
    const POST = next.paymentWebhook({ secret, logger }, payments.receive);
    return async (path, delivery) => {
      const params = Promise.resolve({ tenant: path.split('/')[1] });
      return (await POST(delivery.toRequest(`http://localhost${path}`), { params })).status;
    };
  },
  'Next.js, Pages Router': (payments) => {
    const route = pages.paymentWebhookApi(
      { secret: ({ req }) => merchantAt(req.url), logger },
      payments.receive,
    );
    return overSocket((req, res) => void route(req as NextApiRequest, res as NextApiResponse));
  },
  'AWS Lambda': async (payments) => {
    const invoke = lambda.paymentWebhook(
      { secret: ({ event }) => merchantAt(event.path), logger },
      payments.receive,
    );
    return async (path, { headers, rawBody }) => {
      const body = rawBody.toString('base64');
      return (await invoke({ httpMethod: 'POST', path, headers, body, isBase64Encoded: true }))
        .statusCode;
    };
  },
  NestJS: async (payments) => {
    const useFactory = () => ({
      ...{ url: '/:tenant/webhook', logger, handlers: payments.receive },
      secret: ({ req }: node.NodeHost) => merchantAt(req.url),
    });
    @Module({ imports: [PaymentWebhookModule.forRootAsync({ useFactory })] })
    class Shop {}
    const app = await NestFactory.create(Shop, new ExpressAdapter(), { logger: false });
    await app.init();
    return overSocket(app.getHttpAdapter().getInstance() as RequestListener);
  },
};

const deliveryOf = (name: string, reference: string): SignedDelivery =>
  signedDelivery({ secret: SECRETS.get(name)!, reference });

describe.each(Object.entries(adapters))('payments.receive on %s', (_name, listen) => {
  it(
    'credits one order number of two merchants once each, by the client of each',
    { tags: ['E06', 'H12', 'N03', 'N04'] },
    async () => {
      const send = await listen(paymentsOf('order-1'));
      const [acme, bolt] = [deliveryOf('acme', 'order-1'), deliveryOf('bolt', 'order-1')];
      statuses = new Map([
        ['acme order-1', 'success'],
        ['bolt order-1', 'pending'],
      ]);
      expect(await send('/acme/webhook', acme)).toBe(200);
      expect(await send('/bolt/webhook', bolt)).toBe(503);
      statuses.set('bolt order-1', 'success');
      expect(await send('/bolt/webhook', bolt)).toBe(200);
      expect(credited).toEqual(['acme order-1', 'bolt order-1']);
      expect(asked).toEqual(['acme order-1', 'bolt order-1', 'bolt order-1']);

      // Replays, another spelling of the path, and one merchant's delivery at the other's path.
      expect(await send('/acme/webhook', acme)).toBe(200);
      expect(await send('/Acme/webhook', acme)).toBe(200);
      expect(await send('/bolt/webhook', acme)).toBe(401);
      expect(await send('/nobody/webhook', acme)).toBe(503);
      expect([credited.length, asked.length]).toEqual([2, 3]);
    },
  );
});
