import { once } from 'node:events';
import http from 'node:http';
import { createRequire } from 'node:module';
import { connect, type AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import Router from '@koa/router';
import Koa, { type Middleware } from 'koa';
import mount from 'koa-mount';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { signedDelivery, TEST_SECRET } from '@paylink/testing';
import { paymentGate, paymentWebhook, webhookEvent, type KoaHost } from '../src/index.js';

const secret = TEST_SECRET;
const delivery = signedDelivery({ secret });
const forged = signedDelivery({ secret: 'a-secret-of-nobody' });

// Not imported, because its types change those of every request of node:http.
const { koaBody } = createRequire(import.meta.url)('koa-body') as {
  koaBody(options?: object): Middleware;
};

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
const UNSIGNED = [401, '{"error":"invalid_signature"}'];
const webhook = paymentWebhook({ secret }, () => undefined);
const CONSUMED = [500, '{"error":"body_consumed"}'];

describe.each(versions)('paymentWebhook on %s', (_version, App) => {
  it('works under koa-mount and on a router, and gives the handler parameters and state', async () => {
    const handler = vi.fn();
    const router = new Router().post('/webhooks/:tenant', paymentWebhook({ secret }, handler));
    const app = new App();
    app.use(async (ctx, next) => {
      ctx.state = { shop: 'mine' };
      await next();
    });
    app.use(router.routes());
    const url = await serve(app, mount('/mounted', paymentWebhook({ secret }, handler)));
    expect(await answerTo(delivery.send(`${url}/webhooks/acme`))).toEqual(RECEIVED);
    expect(await answerTo(delivery.send(`${url}/mounted`))).toEqual(RECEIVED);
    expect((await delivery.send(`${url}/elsewhere`)).status).toBe(404);
    const state = { shop: 'mine' };
    const contexts = handler.mock.calls.map(([, context]) => context as KoaHost);
    expect(contexts.map((each) => [each.params, each.state])).toEqual([
      [{ tenant: 'acme' }, state],
      [{}, state],
    ]);
  });

  it(
    'refuses if other middleware read the request, in place of its answer',
    { tags: 'F11' },
    async () => {
      const after: Middleware = async (ctx, next) => {
        await next();
        await webhook(ctx, () => Promise.resolve());
      };
      const reads: Middleware = async (ctx) => {
        await once(ctx.req.resume(), 'end');
        ctx.body = 'read';
      };
      // The 200 that stands there already would tell the service that the payment was taken.
      expect(await answerTo(delivery.send(await serve(new App(), after, reads)))).toEqual(CONSUMED);
    },
  );

  it('settles only when the reply of a gate before the end of an upload is written', async () => {
    const gate = paymentGate({ secret });
    const isEnded = new Promise((resolve) => {
      const app = new App().use(async (ctx) => {
        await gate(ctx, () => Promise.resolve());
        resolve(ctx.res.writableEnded);
      });
      void serve(app).then((url) => {
        const headers = { ...delivery.headers, 'content-length': 70_000 };
        const sender = http.request(url, { method: 'POST', headers });
        sender.on('error', () => undefined).on('response', () => sender.destroy());
        sender.flushHeaders();
      });
    });
    expect(await isEnded).toBe(true);
  });

  it('replies alone if middleware in front does not wait for it', { tags: 'P13' }, async () => {
    const url = await serve(
      new App(),
      (ctx, next) => {
        void next();
        ctx.body = 'ok';
      },
      paymentWebhook({ secret }, () => Promise.reject(new Error('the stock is empty'))),
    );
    expect(await answerTo(delivery.send(url))).toEqual([500, '{"error":"handler_failed"}']);
    expect(await answerTo(forged.send(url))).toEqual(UNSIGNED);
  });

  it(
    'replies in place of a status, a body and an error of others',
    { tags: ['F11', 'F12'] },
    async () => {
      const seen: unknown[] = [];
      const app = new App().on('error', ({ message }: Error) => void seen.push(message));
      const around: Middleware = async (ctx, next) => {
        ctx.status = 202;
        ctx.body = 'by default';
        await next();
        throw new Error('after the webhook');
      };
      const url = await serve(app, around, webhook);
      expect(await answerTo(delivery.send(url))).toEqual(RECEIVED);
      expect(await answerTo(forged.send(url))).toEqual(UNSIGNED);
      expect(seen).toEqual(['after the webhook', 'after the webhook']);
    },
  );

  it(
    'sends one response if middleware above a gate does not wait for it',
    { tags: 'F12' },
    async () => {
      const waits: Middleware = async (_ctx, next) => void (await next());
      const hurries: Middleware = (_ctx, next) => void next();
      const url = await serve(new App(), waits, waits, hurries, paymentGate({ secret }));
      const { port } = new URL(url);
      const socket = connect(Number(port), '127.0.0.1');
      const head = 'POST / HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: 1\r\n';
      socket.write(`${head}X-Service-Signature: zz\r\n\r\n1`);
      const reply = await text(socket);
      const [, length] = /content-length: (\d+)/i.exec(reply)!;
      expect(reply.split('\r\n\r\n')[1]).toHaveLength(Number(length));
    },
  );

  it('leaves a text and the value of a getter off the message of Node', async () => {
    const seen: unknown[] = [];
    const parses = vi.fn(() => delivery.rawBody);
    const url = await serve(
      new App(),
      async (ctx, next) => {
        Object.assign(ctx.request, { rawBody: 'a text' });
        Object.defineProperty(ctx.request, 'body', { get: parses });
        await next();
      },
      paymentWebhook({ secret }, (_event, { req }) => void seen.push('rawBody' in req)),
    );
    expect(await answerTo(delivery.send(url))).toEqual(RECEIVED);
    expect(seen).toEqual([false]);
    expect(parses).not.toHaveBeenCalled();
  });

  it(
    'names the tenant that the secret function returns behind a gate',
    { tags: 'N03' },
    async () => {
      const secretOf = ({ req }: KoaHost) => ({
        secret: req.url === '/a' ? secret : 'a-secret-of-another',
        tenant: String(req.url),
      });
      const url = await serve(new App(), paymentGate({ secret: secretOf }), (ctx) => {
        ctx.body = webhookEvent(ctx).tenant;
      });
      expect(await answerTo(delivery.send(`${url}/a`))).toEqual([200, '/a']);
      expect((await delivery.send(`${url}/b`)).status).toBe(401);
    },
  );

  describe.each(['paymentWebhook', 'paymentGate'])(
    '%s beside koa-body',
    { tags: 'R09' },
    (kind) => {
      const acknowledges: Middleware = (ctx) => void (ctx.body = '{"received":true}');
      // A new one for each test, because a webhook logs a refusal once in a minute.
      const behind = (): Middleware[] =>
        kind === 'paymentGate'
          ? [paymentGate({ secret }), acknowledges]
          : [paymentWebhook({ secret }, () => undefined)];

      it.each([
        ['alone', {}],
        ['with includeUnparsed', { includeUnparsed: true }],
        ['that patches the Node request', { includeUnparsed: true, patchNode: true }],
      ])('names the fix if koa-body %s is in front', async (_how, options) => {
        const url = await serve(new App(), koaBody(options), ...behind());
        expect(await answerTo(delivery.send(url))).toEqual(CONSUMED);
        expect(logged.join()).toMatch(/above the parser.*before .*koaBody\(\)/);
      });

      it.each([{ includeUnparsed: true }, { includeUnparsed: false }])(
        'uses the Buffer that koa-body keeps in front with %o, and refuses a forged one',
        async (options) => {
          const asBytes = { json: false, textTypes: ['application/json'], encoding: '' };
          const url = await serve(new App(), koaBody({ ...asBytes, ...options }), ...behind());
          expect(await answerTo(delivery.send(url))).toEqual(RECEIVED);
          expect(await answerTo(forged.send(url))).toEqual(UNSIGNED);
        },
      );
    },
  );

  it.each(['content-length', 'transfer-encoding'])(
    'answers as its code says if koa-body is behind a gate, for a body with %s',
    { tags: 'R09' },
    async (framing) => {
      const router = new Router()
        .post('/webhooks', paymentGate({ secret }), koaBody({ multipart: true }), (ctx) => {
          ctx.body = webhookEvent(ctx).reference;
        })
        .post('/other', koaBody(), (ctx) => {
          ctx.body = ctx.request.body;
        });
      const url = await serve(new App(), router.routes() as unknown as Middleware);
      const { headers, rawBody } = delivery;
      const whole = framing === 'content-length' ? rawBody : new Blob([rawBody]).stream();
      const sent = { method: 'POST', headers, body: whole, duplex: 'half' } as const;
      expect(await answerTo(fetch(`${url}/webhooks`, sent))).toEqual([200, 'order-42']);
      expect((await forged.send(`${url}/webhooks`)).status).toBe(401);
      expect((await delivery.send(`${url}/other`)).status).toBe(200);
    },
  );
});
