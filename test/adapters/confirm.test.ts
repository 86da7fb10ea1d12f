/** `confirm` on every adapter, as a merchant writes it: with the client, against the emulator. What it compiles to is tested too. */
import { once } from 'node:events';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createClient, type Payment } from '@paylink/client';
import { startEmulator, type Emulator } from '@paylink/emulator';
import * as express from '@paylink/express';
import * as fastify from '@paylink/fastify';
import * as fetchHost from '@paylink/fetch';
import * as koa from '@paylink/koa';
import * as lambda from '@paylink/lambda';
import * as next from '@paylink/next';
import * as pages from '@paylink/next/pages';
import * as node from '@paylink/node';
import { signedDelivery, type SignedDelivery } from '@paylink/testing';
import expressFramework from 'express';
import fastifyFramework from 'fastify';
import Koa from 'koa';
import type { NextApiRequest, NextApiResponse } from 'next';
import { afterAll, beforeAll, beforeEach, describe, expect, expectTypeOf, it } from 'vitest';

const SECRET = 'a-secret-for-what-is-confirmed';
const PATH = '/webhooks/payments';

let emulator: Emulator;
let credited: (readonly [reference: string, amount: number | undefined])[];
const servers: Server[] = [];

beforeAll(async () => {
  emulator = await startEmulator();
});
afterAll(async () => {
  for (const server of servers) server.close();
  await emulator.close();
});
beforeEach(() => {
  credited = [];
});

const options = () => {
  const { baseUrl, apiKey } = emulator;
  return { secret: SECRET, confirm: createClient({ baseUrl, apiKey }), logger: { warn: () => undefined, error: () => undefined } };
};

function credit(event: { readonly reference: string }, { payment }: { readonly payment: Payment }): void {
  credited.push([event.reference, payment.amount]);
}

async function overSocket(listener: RequestListener): Promise<(delivery: SignedDelivery) => Promise<number>> {
  const server = createServer(listener).listen(0, '127.0.0.1');
  servers.push(server);
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return async (delivery) => (await delivery.send(`http://127.0.0.1:${port}${PATH}`)).status;
}

type Send = (delivery: SignedDelivery) => Promise<number>;

/** Each hands its handler's context to `credit`, so that none compiles whose context has no typed payment. */
const adapters: Readonly<Record<string, () => Promise<Send>>> = {
  'node:http': () =>
    overSocket(node.paymentWebhook(options(), { 'payment.succeeded': (event, context) => credit(event, context) })),
  Express: () => {
    const app = expressFramework();
    app.post(PATH, express.paymentWebhook(options(), { 'payment.succeeded': (event, context) => credit(event, context) }));
    return overSocket(app);
  },
  Fastify: async () => {
    const app = fastifyFramework();
    const webhook = { url: PATH, ...options() };
    await app.register(fastify.paymentWebhook(webhook, { 'payment.succeeded': (event, context) => credit(event, context) }));
    return async (delivery) => (await app.inject(delivery.toInject(PATH))).statusCode;
  },
  Koa: () => {
    const app = new Koa();
    app.use(koa.paymentWebhook(options(), { 'payment.succeeded': (event, context) => credit(event, context) }));
    const callback = app.callback();
    return overSocket((req, res) => void callback(req, res));
  },
  Fetch: async () => {
    const handle = fetchHost.paymentWebhook(options(), { 'payment.succeeded': (event, context) => credit(event, context) });
    return async (delivery) => (await handle(delivery.toRequest(`http://localhost${PATH}`))).status;
  },
  'Next.js, App Router': async () => {
    const POST = next.paymentWebhook(options(), { 'payment.succeeded': (event, context) => credit(event, context) });
    return async (delivery) => (await POST(delivery.toRequest(`http://localhost${PATH}`))).status;
  },
  'Next.js, Pages Router': () => {
    const route = pages.paymentWebhookApi(options(), { 'payment.succeeded': (event, context) => credit(event, context) });
    return overSocket((req, res) => void route(req as NextApiRequest, res as NextApiResponse));
  },
  'AWS Lambda': async () => {
    const invoke = lambda.paymentWebhook(options(), { 'payment.succeeded': (event, context) => credit(event, context) });
    return async ({ headers, rawBody }) => {
      const event = { httpMethod: 'POST', headers, body: rawBody.toString('base64'), isBase64Encoded: true };
      return (await invoke(event)).statusCode;
    };
  },
};

let orders = 0;
async function order(): Promise<string> {
  const reference = `order-${++orders}`;
  const { baseUrl, apiKey } = emulator;
  await createClient({ baseUrl, apiKey }).createPaymentLink({ amount: 15_000, reference, single_use: true });
  return reference;
}

describe.each(Object.entries(adapters))('confirm on %s', (_name, listen) => {
  it('gives the handler the payment where the service says success, and does not call it otherwise (E06)', async () => {
    const send = await listen();
    const [pending, failed, cancelled, paid] = await Promise.all([order(), order(), order(), order()]);
    await emulator.fail(failed);
    await emulator.cancel(cancelled);
    await emulator.pay(paid);
    const statuses: number[] = [];
    for (const reference of [pending, failed, cancelled, 'order-of-nobody', paid]) {
      statuses.push(await send(signedDelivery({ secret: SECRET, reference })));
    }
    expect(statuses).toEqual([503, 200, 200, 503, 200]);
    expect(credited).toEqual([[paid, 15_000]]);
    // A payment that failed first.
    await emulator.pay(failed);
    expect(await send(signedDelivery({ secret: SECRET, reference: failed }))).toBe(200);
    expect(credited.at(-1)).toEqual([failed, 15_000]);
  });
});

it('has no payment in the context without it', () => {
  express.paymentWebhook(
    { secret: SECRET },
    {
      'payment.succeeded': (_event, context) => {
        expectTypeOf(context).not.toHaveProperty('payment');
      },
    },
  );
});
