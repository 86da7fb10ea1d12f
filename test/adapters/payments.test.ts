/**
 * `payments` as the handlers of every adapter, for one merchant and for several merchants by path.
 * Also checks that each call compiles.
 */
import 'reflect-metadata';
import { once } from 'node:events';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Controller, Module, Post } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { ExpressAdapter } from '@nestjs/platform-express';
import type { WebhookEvent } from '@paylink/core';
import * as express from '@paylink/express';
import * as fastify from '@paylink/fastify';
import * as fetchHost from '@paylink/fetch';
import * as hono from '@paylink/hono';
import * as koa from '@paylink/koa';
import * as lambda from '@paylink/lambda';
import { PaymentEvent, PaymentWebhook } from '@paylink/nest';
import * as next from '@paylink/next';
import * as pages from '@paylink/next/pages';
import * as node from '@paylink/node';
import { createPayments, memoryStore, type Payments } from '@paylink/payments';
import { signedDelivery, type SignedDelivery } from '@paylink/testing';
import expressFramework from 'express';
import fastifyFramework from 'fastify';
import { Hono } from 'hono';
import Koa from 'koa';
import type { NextApiRequest, NextApiResponse } from 'next';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';

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

function paymentsOf(): Payments {
  return createPayments({
    client: (tenant) => ({
      async getPayment(reference) {
        asked.push(`${tenant} ${reference}`);
        const status = statuses.get(`${tenant} ${reference}`);
        if (status === undefined) throw new Error('404');
        return { reference, status };
      },
    }),
    store: memoryStore(),
    credit: async ({ reference }, { tenant }) => {
      await new Promise((resolve) => setTimeout(resolve, 5));
      credited.push(`${tenant} ${reference}`);
      return 1;
    },
    logger,
  });
}

type Send = (path: string, delivery: SignedDelivery) => Promise<number>;

async function overSocket(listener: RequestListener): Promise<Send> {
  const server = createServer(listener).listen(0, '127.0.0.1');
  servers.push(server);
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return async (path, delivery) => (await delivery.send(`http://127.0.0.1:${port}${path}`)).status;
}

const adapters: Readonly<Record<string, (payments: Payments) => Promise<Send>>> = {
  'node:http': (payments) => {
    const webhook = node.paymentWebhook(
      { secret: ({ req }) => merchantAt(req.url), logger },
      payments,
    );
    return overSocket((req, res) => void webhook(req, res));
  },
  Express: (payments) => {
    const secret = ({ req }: express.ExpressHost) => merchantAt(String(req.params['tenant']));
    const webhook = express.paymentWebhook({ secret, logger }, payments);
    return overSocket(expressFramework().post('/:tenant/webhook', webhook));
  },
  Fastify: async (payments) => {
    const app = fastifyFramework();
    const secret = ({ request }: fastify.FastifyHost) =>
      merchantAt((request.params as { tenant: string }).tenant);
    await app.register(
      fastify.paymentWebhook({ url: '/:tenant/webhook', secret, logger }, payments),
    );
    return async (path, delivery) => (await app.inject(delivery.toInject(path))).statusCode;
  },
  Koa: (payments) => {
    const app = new Koa();
    app.use(koa.paymentWebhook({ secret: ({ req }) => merchantAt(req.url), logger }, payments));
    const callback = app.callback();
    return overSocket((req, res) => void callback(req, res));
  },
  Hono: async (payments) => {
    const secret = ({ req }: hono.HonoHost) => merchantAt(req.param('tenant'));
    const app = new Hono().post(
      '/:tenant/webhook',
      hono.paymentWebhook({ secret, logger }, payments),
    );
    return async (path, delivery) =>
      (await app.request(delivery.toRequest(`http://localhost${path}`))).status;
  },
  Fetch: async (payments) => {
    const secret = ({ request }: fetchHost.FetchHost) => merchantAt(new URL(request.url).pathname);
    const handle = fetchHost.paymentWebhook({ secret, logger }, payments);
    return async (path, delivery) =>
      (await handle(delivery.toRequest(`http://localhost${path}`))).status;
  },
  'Next.js, App Router': async (payments) => {
    const secret = async ({ params }: next.NextHost) =>
      merchantAt(String((await params)?.['tenant']));
    const POST = next.paymentWebhook({ secret, logger }, payments);
    return async (path, delivery) => {
      const params = Promise.resolve({ tenant: path.split('/')[1] });
      return (await POST(delivery.toRequest(`http://localhost${path}`), { params })).status;
    };
  },
  'Next.js, Pages Router': (payments) => {
    const route = pages.paymentWebhookApi(
      { secret: ({ req }) => merchantAt(req.url), logger },
      payments,
    );
    return overSocket((req, res) => void route(req as NextApiRequest, res as NextApiResponse));
  },
  'AWS Lambda': async (payments) => {
    const invoke = lambda.paymentWebhook(
      { secret: ({ event }) => merchantAt(event.path), logger },
      payments,
    );
    return async (path, { headers, rawBody }) => {
      const body = rawBody.toString('base64');
      return (await invoke({ httpMethod: 'POST', path, headers, body, isBase64Encoded: true }))
        .statusCode;
    };
  },
  NestJS: async (payments) => {
    interface Routed {
      readonly params: { readonly tenant: string };
    }
    @Controller()
    class Webhooks {
      @Post(':tenant/webhook')
      @PaymentWebhook({
        secret: ({ context }) =>
          merchantAt(context.switchToHttp().getRequest<Routed>().params.tenant),
        logger,
      })
      async receive(@PaymentEvent() event: WebhookEvent) {
        await payments.receive(event);
        return { received: true };
      }
    }
    @Module({ controllers: [Webhooks] })
    class AppModule {}
    const app = await NestFactory.create(AppModule, new ExpressAdapter(), {
      rawBody: true,
      logger: false,
    });
    await app.init();
    return overSocket(app.getHttpAdapter().getInstance() as RequestListener);
  },
};

const deliveryOf = (name: string, reference: string, type?: string): SignedDelivery =>
  signedDelivery({ secret: SECRETS.get(name)!, reference, ...(type && { type }) });

describe.each(Object.entries(adapters))('payments on %s', (_name, listen) => {
  it('E06 credit a payment only if the service reports success, for any unsigned kind', async () => {
    const send = await listen(paymentsOf());
    statuses = new Map([
      ['acme pending', 'pending'],
      ['acme failed', 'failed'],
      ['acme cancelled', 'cancelled'],
      ['acme paid', 'success'],
    ]);
    const replies: number[] = [];
    for (const reference of ['pending', 'failed', 'cancelled', 'of-nobody', 'paid', 'paid']) {
      replies.push(await send('/acme/webhook', deliveryOf('acme', reference)));
    }
    expect(replies).toEqual([503, 200, 200, 503, 200, 200]);
    expect(credited).toEqual(['acme paid']);
    // A payment that failed first.
    statuses.set('acme failed', 'success');
    expect(await send('/acme/webhook', deliveryOf('acme', 'failed'))).toBe(200);
    expect(await send('/acme/webhook', deliveryOf('acme', 'paid', 'payment.other'))).toBe(200);
    expect(credited).toEqual(['acme paid', 'acme failed']);
  });

  it('N03 N04 credit one order number of two merchants once each, with the client of each merchant', async () => {
    const send = await listen(paymentsOf());
    const [acme, bolt] = [deliveryOf('acme', 'order-1'), deliveryOf('bolt', 'order-1')];
    // Paid for one merchant only. The other merchant's payment of the same number is pending.
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
    expect(await send('/bolt/webhook', bolt)).toBe(200);
    expect(await send('/bolt/webhook', acme)).toBe(401);
    expect(await send('/nobody/webhook', acme)).toBe(503);
    expect(credited).toHaveLength(2);
    expect(asked).toHaveLength(3);
  });

  it('credit an order once for fifty concurrent deliveries', async () => {
    const send = await listen(paymentsOf());
    statuses.set('acme order-1', 'success');
    const replies = await Promise.all(
      Array.from({ length: 50 }, () => send('/acme/webhook', deliveryOf('acme', 'order-1'))),
    );
    expect(credited).toEqual(['acme order-1']);
    expect(replies).toContain(200);
    for (const status of replies) expect([200, 503]).toContain(status);
    expect(await send('/acme/webhook', deliveryOf('acme', 'order-1'))).toBe(200);
    expect(credited).toEqual(['acme order-1']);
  });
});
