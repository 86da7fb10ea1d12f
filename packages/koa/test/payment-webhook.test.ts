import { once } from 'node:events';
import http from 'node:http';
import { createRequire } from 'node:module';
import type { AddressInfo } from 'node:net';
import Router from '@koa/router';
import Koa, { type Middleware } from 'koa';
import bodyParser from 'koa-bodyparser';
import mount from 'koa-mount';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { WebhookError } from '@paylink/core';
import { signedDelivery, TEST_SECRET } from '@paylink/testing';
import { exchange, requestBytes } from '@paylink/testing/wire';
import { paymentWebhook, webhookEvent, type KoaHost } from '../src/index.js';

const secret = TEST_SECRET;
const delivery = signedDelivery({ secret });
const forged = signedDelivery({ secret: 'a-secret-of-nobody' });

const versions: readonly (readonly [string, typeof Koa])[] = [
  ['Koa 3', Koa],
  // The alias has no types of its own; what is used of it is the same.
  ['Koa 2', createRequire(import.meta.url)('koa2') as typeof Koa],
];

const servers = new Set<http.Server>();
let logged: string[];

beforeEach(() => {
  logged = [];
  for (const method of ['warn', 'error'] as const) {
    vi.spyOn(console, method).mockImplementation((text: string) => void logged.push(text));
  }
});

afterEach(async () => {
  vi.restoreAllMocks();
  for (const server of servers) {
    server.close();
    server.closeAllConnections();
    await once(server, 'close');
  }
  servers.clear();
});

/** Serves the middleware, and gives the address. */
async function serve(app: Koa, ...middleware: Middleware[]): Promise<string> {
  for (const one of middleware) app.use(one);
  const server = http.createServer((req, res) => void app.callback()(req, res));
  servers.add(server);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

async function answerTo(request: Promise<Response>): Promise<[status: number, body: string]> {
  const response = await request;
  return [response.status, await response.text()];
}

const RECEIVED = [200, '{"received":true}'];
const SILENT = { warn: () => undefined, error: () => undefined };
const CONSUMED = [500, '{"error":"body_consumed"}'];

describe.each(versions)('paymentWebhook on %s', (_version, App) => {
  it('credits a genuine delivery and refuses a forged one, alone in a small app', async () => {
    const credited: string[] = [];
    const url = await serve(
      new App(),
      paymentWebhook(
        { secret },
        { 'payment.succeeded': ({ reference }) => void credited.push(reference) },
      ),
    );
    expect(await answerTo(delivery.send(url))).toEqual(RECEIVED);
    expect(await answerTo(forged.send(url))).toEqual([401, '{"error":"invalid_signature"}']);
    expect(credited).toEqual(['order-42']);
  });

  it('works under koa-mount and on a router, and leaves every other path to them', async () => {
    const handler = vi.fn();
    const router = new Router().post('/webhooks/payments', paymentWebhook({ secret }, handler));
    const app = new App();
    app.use(router.routes());
    const url = await serve(app, mount('/mounted', paymentWebhook({ secret }, handler)));
    expect(await answerTo(delivery.send(`${url}/mounted`))).toEqual(RECEIVED);
    expect(await answerTo(delivery.send(`${url}/webhooks/payments`))).toEqual(RECEIVED);
    expect((await delivery.send(`${url}/elsewhere`)).status).toBe(404);
    expect(handler).toHaveBeenCalledTimes(2);
  });

  it('names the fix if koa-bodyparser is in front, also of koa-mount', async () => {
    const handler = vi.fn();
    const webhook = paymentWebhook({ secret }, handler);
    const url = await serve(new App(), bodyParser(), mount('/mounted', webhook), webhook);
    for (const path of ['', '/mounted'])
      expect(await answerTo(delivery.send(url + path))).toEqual(CONSUMED);
    expect(logged.join()).toMatch(
      /500 body_consumed.*Put the webhook above the parser.*before app\.use\(bodyParser\(\)\)/,
    );
    expect(handler).not.toHaveBeenCalled();
  });

  it('refuses if other middleware ran first and read the request, in place of its answer', async () => {
    const handler = vi.fn();
    const webhook = paymentWebhook({ secret }, handler);
    const url = await serve(
      new App(),
      async (ctx, next) => {
        await next();
        await webhook(ctx, () => Promise.resolve());
      },
      async (ctx) => {
        await once(ctx.req.resume(), 'end');
        ctx.status = 200;
        ctx.body = 'read';
      },
    );
    // The 200 that stands there already would tell the service that the payment was taken.
    expect(await answerTo(delivery.send(url))).toEqual(CONSUMED);
    expect(handler).not.toHaveBeenCalled();
  });

  it('replies in place of a status and a body that were set before', async () => {
    const url = await serve(
      new App(),
      async (ctx, next) => {
        ctx.status = 202;
        ctx.body = 'by default';
        await next();
      },
      paymentWebhook({ secret }, () => undefined),
    );
    expect(await answerTo(delivery.send(url))).toEqual(RECEIVED);
    expect(await answerTo(forged.send(url))).toEqual([401, '{"error":"invalid_signature"}']);
  });

  it('sends one response if an error is thrown downstream or after the webhook', async () => {
    const seen: unknown[] = [];
    const app = new App();
    app.on('error', (error) => seen.push(error));
    const url = await serve(
      app,
      async (_ctx, next) => {
        await next();
        throw new Error('after the webhook');
      },
      paymentWebhook({ secret }, () => undefined),
    );
    expect(await answerTo(delivery.send(url))).toEqual(RECEIVED);
    expect(seen).toEqual([expect.objectContaining({ message: 'after the webhook' })]);
  });

  it('gives the handler the request, the state, the parameters and `signal`, and no means to answer', async () => {
    const handler = vi.fn();
    const router = new Router().post('/:tenant', paymentWebhook({ secret }, handler));
    const url = await serve(new App(), router.routes() as unknown as Middleware);
    expect(await answerTo(delivery.send(`${url}/acme`))).toEqual(RECEIVED);
    const [, context] = handler.mock.calls[0] as [unknown, KoaHost];
    expect(Object.keys(context).sort()).toEqual(['params', 'req', 'signal', 'state']);
    expect(context.params).toEqual({ tenant: 'acme' });
  });

  it('answers a WebhookError of the handler itself, and gives any other error to Koa', async () => {
    const seen: unknown[] = [];
    const mine = new Error('mine');
    const app = new App();
    app.on('error', (error) => seen.push(error));
    const url = await serve(
      app,
      mount(
        '/known',
        paymentWebhook({ secret }, () =>
          Promise.reject(new WebhookError('unknown_order', { status: 503 })),
        ),
      ),
      paymentWebhook({ secret }, () => Promise.reject(mine)),
    );
    expect(await answerTo(delivery.send(`${url}/known`))).toEqual([
      503,
      '{"error":"unknown_order"}',
    ]);
    expect(await answerTo(delivery.send(url))).toEqual([500, 'Internal Server Error']);
    expect(seen).toEqual([mine]);
  });

  it('fails closed without a gate in front, and hands the event on behind one', async () => {
    const seen: Error[] = [];
    const app = new App();
    app.on('error', (error: Error) => seen.push(error));
    const router = new Router()
      .post('/none', (ctx) => void (ctx.body = webhookEvent(ctx)))
      .post('/gated', paymentWebhook({ secret }), (ctx) => {
        const { type, reference } = webhookEvent(ctx);
        ctx.body = { type, reference };
      });
    app.use(router.routes());
    const url = await serve(app);
    expect((await delivery.send(`${url}/none`)).status).toBe(500);
    expect(seen).toEqual([
      expect.objectContaining({ code: 'misconfigured', option: 'webhookEvent' }),
    ]);
    const event = '{"type":"payment.succeeded","reference":"order-42"}';
    expect(await answerTo(delivery.send(`${url}/gated`))).toEqual([200, event]);
  });

  it('answers a delivery that a gate refuses, and runs nothing behind the gate', async () => {
    const next = vi.fn();
    const url = await serve(new App(), paymentWebhook({ secret }), next);
    expect(await answerTo(forged.send(url))).toEqual([401, '{"error":"invalid_signature"}']);
    expect(next).not.toHaveBeenCalled();
  });

  it('chooses the secret and the tenant by the request, with handlers and as a gate', async () => {
    const secretOf = ({ req }: KoaHost) => ({
      secret: req.url === '/a' ? secret : 'a-secret-of-another',
      tenant: String(req.url),
    });
    const url = await serve(new App(), paymentWebhook({ secret: secretOf }), (ctx) => {
      ctx.body = webhookEvent(ctx).tenant;
    });
    expect(await answerTo(delivery.send(`${url}/a`))).toEqual([200, '/a']);
    expect((await delivery.send(`${url}/b`)).status).toBe(401);
  });

  it('sends its reply and nothing else to a sender that is still uploading', async () => {
    const url = await serve(
      new App(),
      paymentWebhook({ secret }, () => undefined),
    );
    const lines = [
      ['Host', 'shop.example'],
      ['Content-Length', '1'],
    ] as const;
    const { status, body, wire } = await exchange(
      new URL(url),
      requestBytes(lines, Buffer.alloc(0)),
    );
    expect([status, body]).toEqual([401, '{"error":"invalid_signature"}']);
    await wire.send(Buffer.from('n'));
    await wire.closed();
  });
});

describe.each(versions)('an error that is thrown behind a gate on %s', (_version, App) => {
  it.each([
    { status: 200 },
    { statusCode: 204 },
    { status: 399 },
    { status: 500, statusCode: 200 },
    { status: 200, statusCode: 500 },
  ])(
    'is answered with 500 if it carries %j, and is the cause of the error that Koa gets',
    async (fields) => {
      const app = new App();
      const seen: Error[] = [];
      app.on('error', (error: Error) => seen.push(error));
      const error = Object.assign(new Error('of an HTTP client'), fields);
      const url = await serve(app, paymentWebhook({ secret }), () => Promise.reject(error));
      expect((await delivery.send(url)).status).toBe(500);
      expect(seen[0]?.cause).toBe(error);
    },
  );
});

it.each([
  [
    'with the webhook',
    paymentWebhook({ secret, logger: SILENT }, () => Promise.reject(new Error('mine'))),
  ],
  ['without it', () => Promise.reject(new Error('mine'))],
])(
  'Koa leaves a request without an answer if its own error listener throws, %s',
  async (_which, middleware) => {
    const app = new Koa().use(middleware);
    app.on('error', () => {
      throw new Error('of the listener');
    });
    const callback = app.callback();
    let called: Promise<void> | undefined;
    const server = http.createServer((req, res) => void (called = callback(req, res)));
    servers.add(server);
    await once(server.listen(0, '127.0.0.1'), 'listening');
    const sent = delivery
      .send(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)
      .catch(() => 'closed');
    await once(server, 'request');
    await expect(called).rejects.toThrow('of the listener');
    server.closeAllConnections();
    expect(await sent).toBe('closed');
  },
);

it('throws at startup, and not at the first request', () => {
  expect(() => paymentWebhook({ secret }, undefined as never)).toThrow(/^handlers must be a map/);
  expect(() => paymentWebhook({ secret: undefined }, () => undefined)).toThrow(
    /^secret is missing/,
  );
});
