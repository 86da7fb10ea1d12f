/**
 * Several merchants behind one receiver, on every adapter as merchants write it: the secret and the tenant by the path, each
 * merchant's own API key, one store for all.
 */
import 'reflect-metadata';
import { once } from 'node:events';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Controller, HttpCode, HttpException, Module, Post, Req, UseGuards } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { ExpressAdapter } from '@nestjs/platform-express';
import { createClient, type Payment, type PaylinkClient } from '@paylink/client';
import { createDispatcher, isWebhookError, memoryStore, type IdempotencyStore, type WebhookEvent } from '@paylink/core';
import { startEmulator, type Emulator } from '@paylink/emulator';
import * as express from '@paylink/express';
import * as fastify from '@paylink/fastify';
import * as fetchHost from '@paylink/fetch';
import * as hono from '@paylink/hono';
import * as koa from '@paylink/koa';
import * as lambda from '@paylink/lambda';
import { PaymentEvent, paymentWebhookGuard } from '@paylink/nest';
import * as next from '@paylink/next';
import * as pages from '@paylink/next/pages';
import * as node from '@paylink/node';
import { signedDelivery, type SignedDelivery } from '@paylink/testing';
import expressFramework from 'express';
import fastifyFramework from 'fastify';
import { Hono } from 'hono';
import Koa from 'koa';
import type { NextApiRequest, NextApiResponse } from 'next';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';

const SECRETS = new Map([
  ['acme', 'the-webhook-secret-of-acme'],
  ['bolt', 'the-webhook-secret-of-bolt'],
]);
const logger = { warn: () => undefined, error: () => undefined };

const emulators = new Map<string, Emulator>();
const clients = new Map<string, PaylinkClient>();
const servers: Server[] = [];
let credited: string[];
let asked: string[];

beforeAll(async () => {
  for (const name of SECRETS.keys()) {
    const emulator = await startEmulator();
    emulators.set(name, emulator);
    clients.set(name, createClient({ baseUrl: emulator.baseUrl, apiKey: emulator.apiKey }));
  }
});
afterAll(async () => {
  for (const emulator of emulators.values()) await emulator.close();
});
beforeEach(() => {
  credited = [];
  asked = [];
});
afterEach(() => {
  for (const server of servers.splice(0)) server.close();
});

/** The id under which a merchant is known, whatever the spelling of the path: `/Acme/webhook` is `acme`. */
const tenantOf = (path: string | undefined): string => /^\/?([^/]*)/.exec(path ?? '')![1]!.toLowerCase();
const secretOf = (path: string | undefined): string | undefined => SECRETS.get(tenantOf(path));

const confirm = {
  async getPayment(reference: string, { tenant, signal }: { readonly tenant?: string | undefined; readonly signal: AbortSignal }) {
    asked.push(`${tenant} ${reference}`);
    return clients.get(tenant!)!.getPayment(reference, { signal });
  },
};
const options = (idempotency: IdempotencyStore) => ({ confirm, idempotency, logger });

interface Context {
  readonly tenant?: string | undefined;
  readonly payment: Payment;
}
function credit({ reference }: { readonly reference: string }, { tenant, payment }: Context): void {
  credited.push(`${tenant} ${reference} ${payment.amount}`);
}

type Send = (path: string, delivery: SignedDelivery) => Promise<number>;

async function overSocket(listener: RequestListener): Promise<Send> {
  const server = createServer(listener).listen(0, '127.0.0.1');
  servers.push(server);
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return async (path, delivery) => (await delivery.send(`http://127.0.0.1:${port}${path}`)).status;
}

const adapters: Readonly<Record<string, (store: IdempotencyStore) => Promise<Send>>> = {
  'node:http': (store) =>
    overSocket(
      node.paymentWebhook(
        { ...options(store), secret: ({ req }) => secretOf(req.url), tenant: ({ req }) => tenantOf(req.url) },
        { 'payment.succeeded': (event, context) => credit(event, context) },
      ),
    ),
  Express: (store) => {
    const app = expressFramework();
    const webhook = express.paymentWebhook(
      {
        ...options(store),
        secret: ({ req }) => secretOf(String(req.params['tenant'])),
        tenant: ({ req }) => tenantOf(String(req.params['tenant'])),
      },
      { 'payment.succeeded': (event, context) => credit(event, context) },
    );
    app.post('/:tenant/webhook', webhook);
    return overSocket(app);
  },
  Fastify: async (store) => {
    const app = fastifyFramework();
    const webhook = fastify.paymentWebhook(
      {
        url: '/:tenant/webhook',
        ...options(store),
        secret: ({ request }) => secretOf((request.params as { tenant: string }).tenant),
        tenant: ({ request }) => tenantOf((request.params as { tenant: string }).tenant),
      },
      { 'payment.succeeded': (event, context) => credit(event, context) },
    );
    await app.register(webhook);
    return async (path, delivery) => (await app.inject(delivery.toInject(path))).statusCode;
  },
  Koa: (store) => {
    const app = new Koa();
    app.use(
      koa.paymentWebhook(
        { ...options(store), secret: ({ ctx }) => secretOf(ctx.path), tenant: ({ ctx }) => tenantOf(ctx.path) },
        { 'payment.succeeded': (event, context) => credit(event, context) },
      ),
    );
    const callback = app.callback();
    return overSocket((req, res) => void callback(req, res));
  },
  Hono: async (store) => {
    const webhook = hono.paymentWebhook(
      {
        ...options(store),
        secret: ({ c }) => secretOf(c.req.param('tenant')),
        tenant: ({ c }) => tenantOf(c.req.param('tenant')),
      },
      { 'payment.succeeded': (event, context) => credit(event, context) },
    );
    const app = new Hono().post('/:tenant/webhook', webhook);
    return async (path, delivery) => (await app.request(delivery.toRequest(`http://localhost${path}`))).status;
  },
  Fetch: async (store) => {
    const handle = fetchHost.paymentWebhook(
      {
        ...options(store),
        secret: ({ request }) => secretOf(new URL(request.url).pathname),
        tenant: ({ request }) => tenantOf(new URL(request.url).pathname),
      },
      { 'payment.succeeded': (event, context) => credit(event, context) },
    );
    return async (path, delivery) => (await handle(delivery.toRequest(`http://localhost${path}`))).status;
  },
  'Next.js, App Router': async (store) => {
    const POST = next.paymentWebhook(
      {
        ...options(store),
        secret: async ({ params }) => secretOf(String((await params)?.['tenant'])),
        tenant: async ({ params }) => tenantOf(String((await params)?.['tenant'])),
      },
      { 'payment.succeeded': (event, context) => credit(event, context) },
    );
    return async (path, delivery) => {
      const params = Promise.resolve({ tenant: path.split('/')[1] });
      return (await POST(delivery.toRequest(`http://localhost${path}`), { params })).status;
    };
  },
  'Next.js, Pages Router': (store) => {
    const route = pages.paymentWebhookApi(
      { ...options(store), secret: ({ req }) => secretOf(req.url), tenant: ({ req }) => tenantOf(req.url) },
      { 'payment.succeeded': (event, context) => credit(event, context) },
    );
    return overSocket((req, res) => void route(req as NextApiRequest, res as NextApiResponse));
  },
  'AWS Lambda': async (store) => {
    const invoke = lambda.paymentWebhook(
      { ...options(store), secret: ({ event }) => secretOf(event.path), tenant: ({ event }) => tenantOf(event.path) },
      { 'payment.succeeded': (event, context) => credit(event, context) },
    );
    return async (path, { headers, rawBody }) => {
      const event = { httpMethod: 'POST', path, headers, body: rawBody.toString('base64'), isBase64Encoded: true };
      return (await invoke(event)).statusCode;
    };
  },
  // A guard has no store: the controller has a dispatcher for what was proven.
  NestJS: async (store) => {
    const dispatcher = createDispatcher(
      { ...options(store), tenant: ({ path }: { readonly path: string }) => tenantOf(path) },
      { 'payment.succeeded': (event, context) => credit(event, context) },
    );
    interface Routed {
      readonly params: { readonly tenant: string };
    }
    const guard = paymentWebhookGuard({
      secret: ({ context }) => secretOf(context.switchToHttp().getRequest<Routed>().params.tenant),
      logger,
    });
    @Controller()
    class Webhooks {
      @Post(':tenant/webhook')
      @HttpCode(200)
      @UseGuards(guard)
      async receive(@PaymentEvent() event: WebhookEvent, @Req() req: Routed) {
        const { type, rawBody, secretIndex } = event;
        try {
          await dispatcher.dispatch({ kind: type, rawBody, secretIndex }, { path: req.params.tenant });
        } catch (error) {
          throw isWebhookError(error) ? new HttpException({ error: error.code }, error.status) : error;
        }
        return { received: true };
      }
    }
    @Module({ controllers: [Webhooks] })
    class AppModule {}
    const app = await NestFactory.create(AppModule, new ExpressAdapter(), { rawBody: true, logger: false });
    await app.init();
    return overSocket(app.getHttpAdapter().getInstance() as RequestListener);
  },
};

let orders = 0;

describe.each(Object.entries(adapters))('tenants on %s', (_name, listen) => {
  it('credit one order number of two merchants once each, and ask each one’s own API key (N03, N04)', async () => {
    const send = await listen(memoryStore());
    const reference = `order-${++orders}`;
    await clients.get('acme')!.createPaymentLink({ amount: 1_000, reference, single_use: true });
    await clients.get('bolt')!.createPaymentLink({ amount: 2_000, reference, single_use: true });
    const deliveryOf = (name: string) => signedDelivery({ secret: SECRETS.get(name)!, reference });
    const acme = deliveryOf('acme');
    const bolt = deliveryOf('bolt');

    // Paid at one merchant alone: the other's is pending, though its number is the same.
    await emulators.get('acme')!.pay(reference);
    expect(await send('/acme/webhook', acme)).toBe(200);
    expect(await send('/bolt/webhook', bolt)).toBe(503);
    await emulators.get('bolt')!.pay(reference);
    expect(await send('/bolt/webhook', bolt)).toBe(200);
    expect(credited).toEqual([`acme ${reference} 1000`, `bolt ${reference} 2000`]);
    expect(asked).toEqual([`acme ${reference}`, `bolt ${reference}`, `bolt ${reference}`]);

    // Replays, another spelling of the path, and one merchant's delivery at the other's path.
    expect(await send('/acme/webhook', acme)).toBe(200);
    expect(await send('/Acme/webhook', acme)).toBe(200);
    expect(await send('/bolt/webhook', bolt)).toBe(200);
    expect(await send('/bolt/webhook', acme)).toBe(401);
    expect(await send('/nobody/webhook', acme)).toBe(503);
    expect(credited).toHaveLength(2);
    expect(asked).toHaveLength(3);
  });
});
