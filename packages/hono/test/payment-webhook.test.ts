import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { serve, type HttpBindings, type ServerType } from '@hono/node-server';
import { Hono, type Context, type MiddlewareHandler } from 'hono';
import { bodyLimit } from 'hono/body-limit';
import { afterEach, beforeEach, describe, expect, expectTypeOf, it, vi } from 'vitest';
import { ConfigurationError, memoryStore, WebhookError, type WebhookPayload } from '@paylink/core';
import { signedDelivery, TEST_SECRET } from '@paylink/testing';
import { z } from 'zod';
import { deliveryOf as deliveryOnWeb } from '../src/delivery.web.js';
import { paymentWebhook, webhookEvent, type HonoHost } from '../src/index.js';

const secret = TEST_SECRET;
const path = '/webhooks/payments';
const delivery = signedDelivery({ secret });
const forged = signedDelivery({ secret: 'a-secret-of-no-service' });

interface ShopEnv {
  readonly Bindings: { readonly WEBHOOK_SECRET: string };
  readonly Variables: { readonly shop: string };
}

const servers: ServerType[] = [];
beforeEach(() => {
  vi.spyOn(console, 'error').mockReturnValue(undefined);
  vi.spyOn(console, 'warn').mockReturnValue(undefined);
});
afterEach(async () => {
  vi.restoreAllMocks();
  for (const server of servers.splice(0)) await once(server.close(), 'close');
});

/** Opens the app on Hono's server for Node. */
async function listen(app: { readonly fetch: Parameters<typeof serve>[0]['fetch'] }): Promise<string> {
  const server = serve({ fetch: app.fetch, port: 0, hostname: '127.0.0.1' });
  servers.push(server);
  await once(server, 'listening');
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}${path}`;
}

async function answerOf(response: Response | Promise<Response>): Promise<[status: number, body: unknown]> {
  const { status } = await response;
  return [status, await (await response).json()];
}

const RECEIVED = [200, { received: true }];
const UNSIGNED = [401, { error: 'invalid_signature' }];

describe('paymentWebhook', () => {
  it('credits a genuine delivery and refuses a forged one, over a socket and by app.request', async () => {
    const credited: string[] = [];
    const app = new Hono().post(
      path,
      paymentWebhook({ secret }, { 'payment.succeeded': ({ reference }) => void credited.push(reference) }),
    );
    const url = await listen(app);
    expect(await answerOf(delivery.send(url))).toEqual(RECEIVED);
    expect(await answerOf(forged.send(url))).toEqual(UNSIGNED);
    expect(await answerOf(app.request(delivery.toRequest(url)))).toEqual(RECEIVED);
    expect(await answerOf(app.request(forged.toRequest(url)))).toEqual(UNSIGNED);
    expect(credited).toEqual(['order-42', 'order-42']);
  });

  it('gives the handler `c`, with the typed bindings and variables of the app, and takes the secret from `c.env`', async () => {
    const app = new Hono<ShopEnv>();
    app.use(async (c, next) => {
      c.set('shop', 'acme');
      await next();
    });
    app.post(
      path,
      paymentWebhook({ secret: ({ c }: HonoHost<ShopEnv>) => c.env.WEBHOOK_SECRET }, ({ reference }, { c }) => {
        expectTypeOf(c.env.WEBHOOK_SECRET).toEqualTypeOf<string>();
        expectTypeOf(c.get('shop')).toEqualTypeOf<string>();
        return c.json({ reference, shop: c.get('shop'), path: c.req.path }, 201);
      }),
    );
    const env = { WEBHOOK_SECRET: secret };
    const answered = await answerOf(app.request(delivery.toRequest('http://shop.example' + path), undefined, env));
    expect(answered).toEqual([201, { reference: 'order-42', shop: 'acme', path }]);
    expect(await answerOf(app.request(forged.toRequest('http://shop.example' + path), undefined, env))).toEqual(UNSIGNED);
  });

  it('takes the environment of the app from the handler, beside a store', () => {
    const webhook = paymentWebhook({ secret, idempotency: memoryStore() }, (_event, { c }: HonoHost<ShopEnv, object>) => {
      expectTypeOf(c.env.WEBHOOK_SECRET).toEqualTypeOf<string>();
    });
    expect(() => new Hono<ShopEnv>().post(path, webhook)).not.toThrow();
  });

  it('builds no Request on Node, where the body comes in one piece', async () => {
    let made: PropertyKey[] = [];
    const app = new Hono().post(
      path,
      paymentWebhook({ secret }, (_event, { c }) => {
        made = Object.getOwnPropertySymbols(c.req.raw).map((symbol) => symbol.description!);
      }),
    );
    expect(await answerOf(delivery.send(await listen(app)))).toEqual(RECEIVED);
    expect(made).toContain('incomingKey');
    expect(made).not.toContain('requestCache');
  });

  it('keeps the means to respond from the types with `idempotency`, and rolls back under a Response that is not 2xx', async () => {
    const handler = vi.fn().mockResolvedValueOnce(new Response('not yet', { status: 503 }));
    const app = new Hono().post(
      path,
      paymentWebhook({ secret, idempotency: memoryStore() }, (event, { c }) => {
        expectTypeOf(c).not.toHaveProperty('json');
        expectTypeOf(c).toHaveProperty('req');
        return handler(event) as unknown;
      }),
    );
    const url = await listen(app);
    const statuses: number[] = [];
    for (let time = 0; time < 3; time++) statuses.push((await delivery.send(url)).status);
    expect(statuses).toEqual([503, 200, 200]);
    expect(handler).toHaveBeenCalledTimes(2);
  });

  it('hands what the handler throws to app.onError, and answers a WebhookError itself', async () => {
    const errors: Error[] = [];
    const mine = new Error('mine');
    const thrown: Error[] = [mine, new WebhookError('unknown_order', { status: 503 })];
    const app = new Hono().post(
      path,
      paymentWebhook({ secret }, () => Promise.reject(thrown.shift()!)),
    );
    app.onError((error, c) => {
      errors.push(error);
      return c.json({ error: 'of the app' }, 500);
    });
    const url = await listen(app);
    expect(await answerOf(delivery.send(url))).toEqual([500, { error: 'of the app' }]);
    expect(await answerOf(delivery.send(url))).toEqual([503, { error: 'unknown_order' }]);
    expect(errors).toEqual([mine]);
  });

  it.each<readonly [string, (c: Context) => unknown, status: number, body: unknown]>([
    ['sets a status that refuses', (c) => c.status(503), 503, { error: 'handler_failed' }],
    ['sets the lowest status that refuses', (c) => c.status(400), 400, { error: 'handler_failed' }],
    ['sets a status that does not refuse', (c) => c.status(202), 200, { received: true }],
    ['takes a refusal back', (c) => [503, 200].forEach((status) => c.status(status as 200)), 200, { received: true }],
    ['sets `c.res`', (c) => void (c.res = c.json({ error: 'of the shop' }, 409)), 409, { error: 'of the shop' }],
    ['returns a Response', (c) => c.json({ error: 'of the shop' }, 409), 409, { error: 'of the shop' }],
    [
      'sets one status and throws another',
      (c) => {
        c.status(503);
        throw new WebhookError('unknown_order', { status: 422 });
      },
      422,
      { error: 'unknown_order' },
    ],
  ])('answers as a handler does that %s, also behind middleware', async (_does, act, status, body) => {
    const webhook = paymentWebhook({ secret }, (_event, { c }) => act(c));
    const behind = new Hono().use((_c, next) => next()).post(path, webhook);
    for (const app of [new Hono().post(path, webhook), behind]) {
      const url = await listen(app);
      expect(await answerOf(delivery.send(url))).toEqual([status, body]);
      expect(await answerOf(forged.send(url))).toEqual(UNSIGNED);
    }
  });

  it('lets middleware around it see the status and add headers', async () => {
    const statuses: number[] = [];
    const app = new Hono();
    app.use(async (c, next) => {
      await next();
      statuses.push(c.res.status);
      c.header('x-request-id', '1');
    });
    app.post(
      path,
      paymentWebhook({ secret }, () => undefined),
    );
    const url = await listen(app);
    for (const sent of [delivery, forged]) expect((await sent.send(url)).headers.get('x-request-id')).toBe('1');
    expect(statuses).toEqual([200, 401]);
  });

  it('says in the log that another webhook has read the request (F21)', async () => {
    const webhook = paymentWebhook({ secret }, () => undefined);
    const app = new Hono().post(path, async (c, next) => (await Promise.all([webhook(c, next), webhook(c, next)]))[1] as Response);
    expect(await answerOf(delivery.send(await listen(app)))).toEqual([500, { error: 'body_consumed' }]);
    expect(vi.mocked(console.error).mock.calls.join()).toContain('another paymentWebhook has read this request');
  });

  it('throws at set-up what is missing', () => {
    expect(() => paymentWebhook({ secret: '' }, () => undefined)).toThrow(ConfigurationError);
    expect(() => paymentWebhook({ secret }, undefined as never)).toThrow(/^handlers must/);
  });
});

describe('middleware in front of the webhook on Node', () => {
  const clone: MiddlewareHandler = async ({ req }, next) => {
    await req.raw.clone().text();
    await next();
  };

  it.each([
    ['read a clone', clone],
    ['held the body against a limit', bodyLimit({ maxSize: 100_000 })],
  ])('may have %s (F01)', async (_what, middleware) => {
    const app = new Hono().post(
      path,
      middleware,
      paymentWebhook({ secret }, () => undefined),
    );
    const url = await listen(app);
    expect(await answerOf(delivery.send(url))).toEqual(RECEIVED);
    expect(await answerOf(forged.send(url))).toEqual(UNSIGNED);
  });

  it.each<readonly [string, (c: Context) => Promise<unknown>]>([
    ['the body by c.req.json()', ({ req }) => req.json()],
    ['the message of node:http', ({ env }) => text((env as HttpBindings).incoming)],
  ])('may not have read %s, and the log says so (F01)', async (_what, read) => {
    const handler = vi.fn();
    const middleware: MiddlewareHandler = async (c, next) => {
      await read(c);
      await next();
    };
    const url = await listen(new Hono().post(path, middleware, paymentWebhook({ secret }, handler)));
    expect(await answerOf(delivery.send(url))).toEqual([500, { error: 'body_consumed' }]);
    expect(vi.mocked(console.error).mock.calls.join()).toContain('Put the webhook above middleware that reads the body');
    expect(handler).not.toHaveBeenCalled();
  });

  it('answers 413 at the limit of a body that goes no further, and does not wait for its rest (D02)', async () => {
    const app = new Hono().post(
      path,
      paymentWebhook({ secret, bodyLimit: 100 }, () => undefined),
    );
    const body = new ReadableStream({ start: (controller) => controller.enqueue(new Uint8Array(101)) });
    const sent = fetch(await listen(app), { method: 'POST', headers: delivery.headers, body, duplex: 'half' });
    expect(await answerOf(sent)).toEqual([413, { error: 'body_too_large' }]);
  });

  it('closes the connection of a 401, where the server has one (D04)', async () => {
    const app = new Hono().post(
      path,
      paymentWebhook({ secret }, () => undefined),
    );
    const url = await listen(app);
    expect((await forged.send(url)).headers.get('connection')).toBe('close');
    expect((await delivery.send(url)).headers.get('connection')).not.toBe('close');
    expect((await app.request(forged.toRequest(url))).headers.has('connection')).toBe(false);
  });

  it('refuses an empty body as what it is, also behind a body limit (A01)', async () => {
    const app = new Hono().post(
      path,
      bodyLimit({ maxSize: 100_000 }),
      paymentWebhook({ secret }, () => undefined),
    );
    const body = new ReadableStream({ start: (controller) => controller.close() });
    const sent = fetch(await listen(app), { method: 'POST', headers: delivery.headers, body, duplex: 'half' });
    expect(await answerOf(sent)).toEqual(UNSIGNED);
  });

  it('is given the Request where `c.env.incoming` is something else', async () => {
    const app = new Hono().post(
      path,
      paymentWebhook({ secret }, () => undefined),
    );
    for (const env of [undefined, {}, { incoming: {} }, { incoming: { rawHeaders: 'text' } }]) {
      expect(await answerOf(app.request(delivery.toRequest(`http://localhost${path}`), undefined, env))).toEqual(RECEIVED);
    }
  });
});

// The types keep these from a handler under a store; JavaScript does not.
it.each<readonly [string, (c: Context) => unknown, status: number, body: unknown]>([
  ['sets a status that refuses', (c) => c.status(503), 503, { error: 'handler_failed' }],
  ['sets `c.res` to a refusal', (c) => void (c.res = c.json({ error: 'of the shop' }, 409)), 409, { error: 'of the shop' }],
  ['returns a refusal', (c) => c.json({ error: 'of the shop' }, 422), 422, { error: 'of the shop' }],
  [
    'sets one refusal and returns another',
    (c) => {
      c.status(503);
      return c.json({ error: 'of the shop' }, 422);
    },
    422,
    { error: 'of the shop' },
  ],
  [
    'sets a refusal and returns success',
    (c) => {
      c.status(503);
      return new Response('{}');
    },
    503,
    { error: 'handler_failed' },
  ],
])('marks nothing under a store where a handler %s', async (_does, act, status, body) => {
  const handler = vi.fn<(c: Context) => unknown>(act);
  const webhook = paymentWebhook({ secret, idempotency: memoryStore() }, (_event, { c }) => handler(c as Context));
  const url = await listen(new Hono().post(path, webhook));
  expect(await answerOf(delivery.send(url))).toEqual([status, body]);
  handler.mockReturnValue(undefined);
  expect(await answerOf(delivery.send(url))).toEqual(RECEIVED);
  expect(await answerOf(delivery.send(url))).toEqual(RECEIVED);
  expect(handler).toHaveBeenCalledTimes(2);
});

it('throws an Error that is returned beside a status, so that `onError` sees it', async () => {
  vi.spyOn(console, 'error').mockReturnValue(undefined);
  const error = new Error('db down');
  const webhook = paymentWebhook({ secret, idempotency: memoryStore() }, (_event, { c }) => {
    (c as Context).status(503);
    return error;
  });
  const seen: unknown[] = [];
  const app = new Hono().post(path, webhook).onError((thrown, c) => {
    seen.push(thrown);
    return c.text('', 500);
  });
  expect((await delivery.send(await listen(app))).status).toBe(500);
  expect(seen).toEqual([error]);
});

it('gives the body in one go where Bun’s server is the environment', async () => {
  vi.stubGlobal('Bun', {});
  const inOneGo: boolean[] = [];
  const app = new Hono().post(path, async (c) => {
    const { raw } = c.req;
    const whole = vi.spyOn(raw, 'arrayBuffer');
    await deliveryOnWeb(c).body({ bodyLimit: 100, bodyTimeout: 1_000 });
    inOneGo.push(whole.mock.calls.length > 0);
    return c.body(null);
  });
  for (const address of [{ address: '127.0.0.1' }, null]) {
    const request = new Request(delivery.toRequest(`http://localhost${path}`));
    request.headers.set('content-length', String(delivery.rawBody.length));
    expect((await app.fetch(request, { requestIP: () => address })).status).toBe(200);
  }
  vi.unstubAllGlobals();
  expect(inOneGo).toEqual([true, false]);
});

it('reads the Request on a runtime without node:http', async () => {
  const app = new Hono().post(path, async (c) => {
    const { method, header, body } = deliveryOnWeb(c);
    const bytes = await body({ bodyLimit: 100, bodyTimeout: 1_000 });
    return c.json([method, header('x-service-signature'), Buffer.from(bytes).toString()]);
  });
  const read = ['POST', delivery.signature, delivery.rawBody.toString()];
  expect(await answerOf(app.request(delivery.toRequest(`http://localhost${path}`)))).toEqual([200, read]);
});

describe('a gate', () => {
  it('chooses a tenant’s secret by `c` (H12)', async () => {
    const gate = paymentWebhook({ secret: ({ c }) => (c.req.path === '/a' ? secret : 'a-secret-of-another') });
    const app = new Hono().post('/*', gate, (c) => c.json(gate.event(c).reference));
    expect(await answerOf(app.request(delivery.toRequest('http://localhost/a')))).toEqual([200, 'order-42']);
    expect(await answerOf(app.request(delivery.toRequest('http://localhost/b')))).toEqual(UNSIGNED);
  });

  it('lets app.onError refuse by its own status what a handler behind it throws', async () => {
    const app = new Hono().post(path, paymentWebhook({ secret }), () => {
      throw new Error('mine');
    });
    app.onError((error, c) => c.json({ error: error.message }, 400));
    expect(await answerOf(app.request(delivery.toRequest(`http://localhost${path}`)))).toEqual([400, { error: 'mine' }]);
  });

  it('lets app.onError make no success of what a handler behind it throws (N07)', async () => {
    const app = new Hono().post(path, paymentWebhook({ secret }), () => {
      throw Object.assign(new Error('mine'), { status: 200 });
    });
    app.onError((error, c) => c.text(error.message, (error as Error & { readonly status: 200 }).status, { 'x-leaked': 'mine' }));
    const response = await app.request(delivery.toRequest(`http://localhost${path}`));
    expect(await answerOf(response)).toEqual([500, { error: 'handler_failed' }]);
    expect(response.headers.has('x-leaked')).toBe(false);
  });

  it('fails closed where another gate is in front (F22)', async () => {
    const gate = paymentWebhook({ secret });
    const app = new Hono().post(path, paymentWebhook({ secret }), (c) => c.json(gate.event(c)));
    expect((await app.request(delivery.toRequest(`http://localhost${path}`))).status).toBe(500);
  });

  it('warns once where nothing stands behind it (F22)', async () => {
    const logger = { warn: vi.fn(), error: vi.fn() };
    const app = new Hono().post(path, paymentWebhook({ secret, logger }));
    for (let time = 0; time < 2; time++) {
      expect((await app.request(delivery.toRequest(`http://localhost${path}`))).status).toBe(404);
    }
    expect(logger.warn).toHaveBeenCalledExactlyOnceWith(expect.stringContaining('nothing stands behind the gate'));
  });

  it.each([
    ['answers 404 and has read the event', 404, true],
    ['has read the event and answers 200', 200, true],
    ['does not read the event and answers 204', 204, false],
  ])('warns of no handler that %s (F22)', async (_what, status, reads) => {
    const logger = { warn: vi.fn(), error: vi.fn() };
    const app = new Hono().post(path, paymentWebhook({ secret, logger }), (c) => {
      if (reads) webhookEvent(c);
      return new Response(null, { status });
    });
    expect((await app.request(delivery.toRequest(`http://localhost${path}`))).status).toBe(status);
    expect(logger.warn).not.toHaveBeenCalled();
  });

  it('lets the next handler have the event, typed by its own `events`', async () => {
    const refund = z.object({ reference: z.string(), refund_id: z.string() });
    const gate = paymentWebhook({ secret, events: { 'payment.refunded': refund } });
    const app = new Hono<{ Bindings: HttpBindings }>().post(path, gate, (c) => {
      const event = gate.event(c);
      if (event.type === 'payment.refunded') expectTypeOf(event.payload.refund_id).toEqualTypeOf<string>();
      else expectTypeOf(event.payload).toEqualTypeOf<WebhookPayload>();
      return c.json({ type: webhookEvent(c).type, reference: event.reference });
    });
    const url = await listen(app);
    expect(await answerOf(delivery.send(url))).toEqual([200, { type: 'payment.succeeded', reference: 'order-42' }]);
    const refunded = signedDelivery({ secret, type: 'payment.refunded', payload: { refund_id: 'r-1' } });
    expect(await answerOf(refunded.send(url))).toEqual([200, { type: 'payment.refunded', reference: 'order-42' }]);
    expect(await answerOf(forged.send(url))).toEqual(UNSIGNED);
    expect(await answerOf(signedDelivery({ secret, type: 'payment.other' }).send(url))).toEqual(RECEIVED);
  });

  it('fails closed where it is not in front (F22)', async () => {
    const app = new Hono().post(path, (c: Context) => c.json(webhookEvent(c)));
    const errors: Error[] = [];
    app.onError((error, c) => {
      errors.push(error);
      return c.json({}, 500);
    });
    expect((await delivery.send(await listen(app))).status).toBe(500);
    expect(errors).toMatchObject([{ name: 'ConfigurationError', option: 'webhookEvent' }]);
  });
});
