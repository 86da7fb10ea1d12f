import { once } from 'node:events';
import http from 'node:http';
import { createRequire } from 'node:module';
import type { AddressInfo } from 'node:net';
import Router from '@koa/router';
import Koa, { type Middleware } from 'koa';
import bodyParser from 'koa-bodyparser';
import mount from 'koa-mount';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { memoryStore, WebhookError } from '@paylink/core';
import { signedDelivery, TEST_SECRET } from '@paylink/testing';
import { exchange, requestBytes } from '@paylink/testing/wire';
import { paymentWebhook, webhookEvent } from '../src/index.js';

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

const saysUnanswered = (line: string): boolean => line.includes('nothing stands behind the gate');

const RECEIVED = [200, '{"received":true}'];
const CONSUMED = [500, '{"error":"body_consumed"}'];

describe.each(versions)('paymentWebhook on %s', (_version, App) => {
  it('credits a genuine delivery and refuses a forged one, alone in a small app', async () => {
    const credited: string[] = [];
    const url = await serve(
      new App(),
      paymentWebhook({ secret }, { 'payment.succeeded': ({ reference }) => void credited.push(reference) }),
    );
    expect(await answerTo(delivery.send(url))).toEqual(RECEIVED);
    expect(await answerTo(forged.send(url))).toEqual([401, '{"error":"invalid_signature"}']);
    expect(credited).toEqual(['order-42']);
  });

  it('works under koa-mount and on a router, and leaves every other path to them (D26)', async () => {
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

  it('says what to change when koa-bodyparser is in front, also of koa-mount, and hangs on nothing (F01, F05)', async () => {
    const handler = vi.fn();
    const webhook = paymentWebhook({ secret }, handler);
    const url = await serve(new App(), bodyParser(), mount('/mounted', webhook), webhook);
    for (const path of ['', '/mounted']) expect(await answerTo(delivery.send(url + path))).toEqual(CONSUMED);
    expect(logged.join()).toMatch(/500 body_consumed.*Put the webhook above the parser.*before app\.use\(bodyParser\(\)\)/);
    expect(handler).not.toHaveBeenCalled();
  });

  it('refuses where other middleware has run first and read the request, whatever it has answered (F11)', async () => {
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

  it('replies to what it refused, and to what it took, where a status and a body were set before (F11)', async () => {
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

  it('sends one response where an error is thrown downstream or after us (F12)', async () => {
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

  it('leaves the response to a handler that took it over by ctx.respond = false (F12)', async () => {
    const url = await serve(
      new App(),
      paymentWebhook({ secret }, (_event, { ctx }) => {
        ctx.respond = false;
        setTimeout(() => ctx.res.writeHead(202).end('later'), 20);
      }),
    );
    expect(await answerTo(delivery.send(url))).toEqual([202, 'later']);
  });

  it.each([200, 204, 404, 409, 500])('leaves alone a handler that only set the status %i (G08)', async (status) => {
    const url = await serve(
      new App(),
      paymentWebhook({ secret }, (_event, { ctx }) => {
        ctx.status = status;
      }),
    );
    expect((await delivery.send(url)).status).toBe(status);
  });

  it('refuses a handler that set a body and then hung (G03)', async () => {
    const url = await serve(
      new App(),
      paymentWebhook({ secret, handlerTimeout: 50 }, (_event, { ctx }) => {
        ctx.body = 'done';
        return new Promise(() => undefined);
      }),
    );
    expect(await answerTo(delivery.send(url))).toEqual([503, '{"error":"handler_timeout"}']);
  });

  it('closes a response that the handler began on ctx.res before it threw (G05)', async () => {
    const app = new App();
    const seen: unknown[] = [];
    app.on('error', (error) => seen.push(error));
    const url = await serve(
      app,
      paymentWebhook({ secret }, (_event, { ctx }) => {
        ctx.respond = false;
        ctx.res.writeHead(200).write('a piece');
        throw new Error('in the middle');
      }),
    );
    await expect(answerTo(delivery.send(url))).rejects.toThrow();
    expect(seen).toEqual([expect.objectContaining({ message: 'in the middle' })]);
  });

  it('answers a WebhookError of the handler itself, and hands anything else to Koa (G01)', async () => {
    const seen: unknown[] = [];
    const mine = new Error('mine');
    const app = new App();
    app.on('error', (error) => seen.push(error));
    const url = await serve(
      app,
      mount(
        '/known',
        paymentWebhook({ secret }, () => Promise.reject(new WebhookError('unknown_order', { status: 503 }))),
      ),
      paymentWebhook({ secret }, () => Promise.reject(mine)),
    );
    expect(await answerTo(delivery.send(`${url}/known`))).toEqual([503, '{"error":"unknown_order"}']);
    expect(await answerTo(delivery.send(url))).toEqual([500, 'Internal Server Error']);
    expect(seen).toEqual([mine]);
  });

  it('keeps ctx from the handler with `idempotency`, and runs it once', async () => {
    const handler = vi.fn();
    const url = await serve(new App(), paymentWebhook({ secret, idempotency: memoryStore() }, handler));
    for (let time = 0; time < 3; time++) expect(await answerTo(delivery.send(url))).toEqual(RECEIVED);
    expect(handler).toHaveBeenCalledOnce();
    expect(Object.keys(handler.mock.calls[0]![1] as object).sort()).toEqual(['req', 'signal']);
  });

  it('fails closed where no gate is in front, or another one (F22)', async () => {
    const gate = paymentWebhook({ secret });
    const seen: Error[] = [];
    const app = new App();
    app.on('error', (error: Error) => seen.push(error));
    const router = new Router()
      .post('/none', (ctx) => void (ctx.body = webhookEvent(ctx)))
      .post('/other', paymentWebhook({ secret }), (ctx) => void (ctx.body = gate.event(ctx)))
      .post('/gated', gate, (ctx) => {
        const type: 'payment.succeeded' = gate.event(ctx).type;
        ctx.body = { type, reference: webhookEvent(ctx).reference };
      });
    app.use(router.routes());
    const url = await serve(app);
    for (const path of ['/none', '/other']) expect((await delivery.send(url + path)).status).toBe(500);
    expect(seen).toEqual(Array(2).fill(expect.objectContaining({ code: 'misconfigured' })));
    expect(await answerTo(delivery.send(`${url}/gated`))).toEqual([200, '{"type":"payment.succeeded","reference":"order-42"}']);
  });

  it('answers what a gate refuses, and lets nothing behind it run (F20)', async () => {
    const next = vi.fn();
    const url = await serve(new App(), paymentWebhook({ secret }), next);
    expect(await answerTo(forged.send(url))).toEqual([401, '{"error":"invalid_signature"}']);
    expect(next).not.toHaveBeenCalled();
  });

  it('chooses a tenant’s secret by the context, with handlers and as a gate (H12)', async () => {
    const secretOf = ({ ctx, req }: { ctx: { path: string }; req: http.IncomingMessage }): string =>
      ctx.path === '/a' && req.url === '/a' ? secret : 'a-secret-of-another';
    const url = await serve(new App(), paymentWebhook({ secret: secretOf }), (ctx) => {
      ctx.body = webhookEvent(ctx).reference;
    });
    expect(await answerTo(delivery.send(`${url}/a`))).toEqual([200, 'order-42']);
    expect((await delivery.send(`${url}/b`)).status).toBe(401);
  });

  it('warns once where nothing stands behind the gate (F22)', async () => {
    const url = await serve(new App(), paymentWebhook({ secret }));
    for (let time = 0; time < 2; time++) expect((await delivery.send(url)).status).toBe(404);
    expect(logged.filter(saysUnanswered)).toHaveLength(1);
  });

  it.each([
    ['answers 404 and has read the event', 404, true],
    ['has read the event and answers 200', 200, true],
    ['does not read the event and answers 204', 204, false],
  ])('warns of no middleware that %s (F22)', async (_what, status, reads) => {
    const url = await serve(new App(), paymentWebhook({ secret }), (ctx) => {
      if (reads) webhookEvent(ctx);
      ctx.status = status;
    });
    expect((await delivery.send(url)).status).toBe(status);
    expect(logged.filter(saysUnanswered)).toEqual([]);
  });

  it('sends its reply and nothing else to a sender that is still uploading (D04)', async () => {
    const url = await serve(
      new App(),
      paymentWebhook({ secret }, () => undefined),
    );
    const lines = [
      ['Host', 'shop.example'],
      ['Content-Length', '1'],
    ] as const;
    const { status, body, wire } = await exchange(new URL(url), requestBytes(lines, Buffer.alloc(0)));
    expect([status, body]).toEqual([401, '{"error":"invalid_signature"}']);
    await wire.send(Buffer.from('n'));
    await wire.closed();
  });
});

describe.each(versions)('what is thrown behind a gate on %s', (_version, App) => {
  /** The reply to it, and what Koa's own error handling is given. */
  async function thrownBehind(error: Error): Promise<[status: number, reached: unknown]> {
    const app = new App();
    const seen: unknown[] = [];
    app.on('error', (reached) => seen.push(reached));
    const url = await serve(app, paymentWebhook({ secret }), () => Promise.reject(error));
    const { status } = await delivery.send(url);
    return [status, seen[0]];
  }

  it.each([
    { status: 200 },
    { statusCode: 204 },
    { status: 399 },
    { status: 500, statusCode: 200 },
    { status: 200, statusCode: 500 },
  ])('is answered with 500 where it carries %j, and is the cause of what Koa is given (N07)', async (fields) => {
    const error = Object.assign(new Error('of an HTTP client'), fields);
    const [status, reached] = await thrownBehind(error);
    expect([status, reached, (reached as Error).cause]).toEqual([500, expect.any(Error), error]);
  });

  it.each([
    [{}, 500],
    [{ status: '200' }, 500],
    [{ status: 400 }, 400],
    [{ status: 409 }, 409],
    [{ statusCode: 503 }, 503],
  ])('is Koa’s as it is where it carries %j', async (fields, expected) => {
    const error = Object.assign(new Error('a refusal'), fields);
    const [status, reached] = await thrownBehind(error);
    expect([status, reached]).toEqual([expected, error]);
    expect(reached).toBe(error);
  });
});

describe('paymentWebhook', () => {
  it('throws at set-up, and not at the first request (B01)', () => {
    expect(() => paymentWebhook({ secret }, undefined as never)).toThrow('handlers must be a function or a map');
    expect(() => paymentWebhook({ secret: undefined }, () => undefined)).toThrow(/^secret is missing/);
    expect(() => paymentWebhook({ secret, idempotency: memoryStore() } as never)).toThrow('idempotency is an unknown option');
  });
});
