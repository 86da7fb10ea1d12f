import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { serve, type HttpBindings, type ServerType } from '@hono/node-server';
import { Hono, type MiddlewareHandler } from 'hono';
import { bodyLimit } from 'hono/body-limit';
import {
  afterEach,
  beforeEach,
  describe,
  expect,
  expectTypeOf,
  it,
  onTestFinished,
  vi,
} from 'vitest';
import { signedDelivery, TEST_SECRET } from '@paylink/testing';
import { deliveryOf as deliveryOnWeb } from '../src/delivery.web.js';
import { paymentGate, paymentWebhook, webhookEvent, type HonoHost } from '../src/index.js';

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
async function listen(app: {
  readonly fetch: Parameters<typeof serve>[0]['fetch'];
}): Promise<string> {
  const server = serve({ fetch: app.fetch, port: 0, hostname: '127.0.0.1' });
  servers.push(server);
  await once(server, 'listening');
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}${path}`;
}

async function answerOf(
  response: Response | Promise<Response>,
): Promise<[status: number, body: unknown]> {
  const { status } = await response;
  return [status, await (await response).json()];
}

const webhook = paymentWebhook({ secret }, () => undefined);
const RECEIVED = [200, { received: true }];
const UNSIGNED = [401, { error: 'invalid_signature' }];

describe('paymentWebhook', () => {
  it('gives the handler the request, the typed bindings and variables, and no means to answer', async () => {
    const keys: string[][] = [];
    const app = new Hono<ShopEnv>();
    app.use(async (c, next) => {
      c.set('shop', 'acme');
      await next();
    });
    const secretOf = ({ env }: HonoHost<ShopEnv>) => ({ secret: env.WEBHOOK_SECRET, tenant: null });
    app.post(
      path,
      paymentWebhook({ secret: secretOf }, (_event, context) => {
        expectTypeOf(context.env.WEBHOOK_SECRET).toEqualTypeOf<string>();
        expectTypeOf(context.var.shop).toEqualTypeOf<string>();
        expect([context.var.shop, context.req.path]).toEqual(['acme', path]);
        expectTypeOf(context.env.outgoing).toEqualTypeOf<undefined>();
        keys.push(Object.keys(context).sort());
      }),
    );
    const env = { WEBHOOK_SECRET: secret };
    const sent = (request: Request) => answerOf(app.request(request, undefined, env));
    expect(await sent(delivery.toRequest('http://shop.example' + path))).toEqual(RECEIVED);
    expect(await sent(forged.toRequest('http://shop.example' + path))).toEqual(UNSIGNED);
    expect(keys).toEqual([['env', 'executionCtx', 'req', 'var']]);
  });

  it('gives no handler and no secret function the response of Node', { tags: 'O09' }, async () => {
    const seen: unknown[] = [];
    const look = ({ env }: HonoHost): void =>
      void seen.push((env as { readonly outgoing?: unknown }).outgoing);
    const secretOf = (host: HonoHost) => {
      look(host);
      return { secret, tenant: null };
    };
    const app = new Hono().post(
      path,
      paymentWebhook({ secret: secretOf }, (_event, host) => look(host)),
    );
    expect(await answerOf(delivery.send(await listen(app)))).toEqual(RECEIVED);
    expect(seen).toEqual([undefined, undefined]);
  });

  it('gives the handler the execution context of a Worker', async () => {
    const contexts: unknown[] = [];
    const app = new Hono().post(
      path,
      paymentWebhook({ secret }, (_event, { executionCtx }) => void contexts.push(executionCtx)),
    );
    const ignore = (): undefined => undefined;
    const executionCtx = { waitUntil: ignore, passThroughOnException: ignore, props: {} };
    await app.fetch(delivery.toRequest(`http://localhost${path}`), {}, executionCtx);
    await app.fetch(delivery.toRequest(`http://localhost${path}`), {});
    // A Worker's `waitUntil` refuses another `this`.
    expect([contexts[0] === executionCtx, contexts[1]]).toEqual([true, undefined]);
  });

  it('builds no Request on Node if the body comes in one piece', async () => {
    let made: PropertyKey[] = [];
    const app = new Hono().post(
      path,
      paymentWebhook({ secret }, (_event, { req }) => {
        made = Object.getOwnPropertySymbols(req.raw).map((symbol) => symbol.description!);
      }),
    );
    expect(await answerOf(delivery.send(await listen(app)))).toEqual(RECEIVED);
    expect(made).toContain('incomingKey');
    expect(made).not.toContain('requestCache');
  });

  it('lets middleware around it see the status and add headers', async () => {
    const statuses: number[] = [];
    const app = new Hono();
    app.use(async (c, next) => {
      await next();
      statuses.push(c.res.status);
      c.header('x-request-id', '1');
    });
    app.post(path, webhook);
    const url = await listen(app);
    for (const sent of [delivery, forged])
      expect((await sent.send(url)).headers.get('x-request-id')).toBe('1');
    expect(statuses).toEqual([200, 401]);
  });
});

describe('middleware in front of the webhook on Node', () => {
  const keep: MiddlewareHandler = async ({ req }, next) => {
    await req.arrayBuffer();
    await next();
  };

  it('can have kept the bytes by c.req.arrayBuffer()', async () => {
    const app = new Hono().post(path, keep, webhook);
    const url = await listen(app);
    expect(await answerOf(delivery.send(url))).toEqual(RECEIVED);
    expect(await answerOf(forged.send(url))).toEqual(UNSIGNED);
    expect(await answerOf(app.request(delivery.toRequest(url)))).toEqual(RECEIVED);
    expect(await answerOf(app.request(forged.toRequest(url)))).toEqual(UNSIGNED);
  });

  it('can have kept the bytes, and still only one webhook takes them', async () => {
    const handler = vi.fn();
    const counted = paymentWebhook({ secret }, handler);
    const app = new Hono().post(path, keep, async (c, next) => {
      await counted(c, next);
      return (await counted(c, next)) as Response;
    });
    const url = await listen(app);
    const consumed = [500, { error: 'body_consumed' }];
    expect(await answerOf(delivery.send(url))).toEqual(consumed);
    expect(await answerOf(app.request(delivery.toRequest(url)))).toEqual(consumed);
    expect(handler).toHaveBeenCalledTimes(2);
  });

  it('must not read the message of node:http, and the log says so', async () => {
    const reads: MiddlewareHandler = async ({ env }, next) => {
      await text((env as HttpBindings).incoming);
      await next();
    };
    const logging = paymentWebhook({ secret }, () => undefined);
    const url = await listen(new Hono().post(path, reads, logging));
    const { headers, rawBody } = delivery;
    for (const body of [rawBody, new Blob([rawBody]).stream()]) {
      const sent = fetch(url, { method: 'POST', headers, body, duplex: 'half' });
      expect(await answerOf(sent)).toEqual([500, { error: 'body_consumed' }]);
    }
    expect(vi.mocked(console.error).mock.calls.join()).toContain(
      'Put the webhook above middleware that reads the body',
    );
  });

  it('refuses an empty body as an empty body, also behind a body limit', async () => {
    const app = new Hono().post(path, bodyLimit({ maxSize: 100_000 }), webhook);
    const body = new ReadableStream({ start: (controller) => controller.close() });
    const { headers } = delivery;
    const sent = fetch(await listen(app), { method: 'POST', headers, body, duplex: 'half' });
    expect(await answerOf(sent)).toEqual(UNSIGNED);
  });

  it('reads the Request if `c.env.incoming` is something else', async () => {
    const app = new Hono().post(path, webhook);
    for (const env of [undefined, {}, { incoming: {} }, { incoming: { rawHeaders: 'text' } }]) {
      expect(
        await answerOf(app.request(delivery.toRequest(`http://localhost${path}`), undefined, env)),
      ).toEqual(RECEIVED);
    }
  });
});

it('reads the Request on Bun, and may close its connection', async () => {
  vi.stubGlobal('Bun', {});
  onTestFinished(() => void vi.unstubAllGlobals());
  const app = new Hono().post(path, async (c) => {
    const { method, header, body, closes } = deliveryOnWeb(c);
    const bytes = await body({ bodyLimit: 100, bodyTimeout: 1_000 });
    return c.json([method, header('x-service-signature'), Buffer.from(bytes).toString(), closes]);
  });
  const read = ['POST', delivery.signature, delivery.rawBody.toString(), true];
  const server = { requestIP: () => undefined };
  const sent = app.request(delivery.toRequest(`http://localhost${path}`), undefined, server);
  expect(await answerOf(sent)).toEqual([200, read]);
});

describe('paymentGate', () => {
  it('passes the event and its tenant to the next handler', { tags: 'N03' }, async () => {
    const secretOf = ({ req }: HonoHost) => ({
      secret: req.path === '/a' ? secret : 'a-secret-of-another',
      tenant: req.path,
    });
    const app = new Hono<{ Bindings: HttpBindings }>().post(
      '/*',
      paymentGate({ secret: secretOf }),
      async (c) => {
        await new Promise((resolve) => setImmediate(resolve));
        const { type, reference, tenant } = webhookEvent(c);
        return c.json({ type, reference, tenant });
      },
    );
    const url = await listen(app);
    expect(await answerOf(delivery.send(url.replace(path, '/a')))).toEqual([
      200,
      { type: 'payment.succeeded', reference: 'order-42', tenant: '/a' },
    ]);
    expect(await answerOf(delivery.send(url.replace(path, '/b')))).toEqual(UNSIGNED);
  });
});
