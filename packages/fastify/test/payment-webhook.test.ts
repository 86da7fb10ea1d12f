import { once } from 'node:events';
import http from 'node:http';
import http2 from 'node:http2';
import { createRequire } from 'node:module';
import type { AddressInfo } from 'node:net';
import { PassThrough, Readable } from 'node:stream';
import { finished } from 'node:stream/promises';
import { setTimeout as wait } from 'node:timers/promises';
import { createGunzip, gzipSync } from 'node:zlib';
import compress from '@fastify/compress';
import fastify, { type FastifyInstance, type FastifyReply } from 'fastify';
import type { FastifyServerOptions, RouteShorthandOptions } from 'fastify';
import fastifyPlugin from 'fastify-plugin';
import rawBody from 'fastify-raw-body';
import fastify4 from 'fastify4';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { signedDelivery, TEST_SECRET } from '@paylink/testing';
import { paymentWebhook } from '../src/index.js';

// What through2 and others are made of.
const require = createRequire(import.meta.url);
const older = require('readable-stream') as { readonly PassThrough: typeof PassThrough };

const secret = TEST_SECRET;
const url = '/webhooks/payments';
const delivery = signedDelivery({ secret });
const forged = signedDelivery({ secret: 'a-secret-of-nobody' });

type Create = (options?: Pick<FastifyServerOptions, 'bodyLimit'>) => FastifyInstance;
const versions: readonly (readonly [string, Create])[] = [
  ['Fastify 5', (options) => fastify(options)],
  // What is used of its instances is the same.
  ['Fastify 4', (options) => fastify4(options) as unknown as FastifyInstance],
];

const opened = new Set<FastifyInstance>();
afterEach(async () => {
  vi.restoreAllMocks();
  for (const app of opened) await app.close();
  opened.clear();
});

/** Opens a real server, and gives the webhook's address on it. */
async function listen(app: FastifyInstance, path = url): Promise<string> {
  opened.add(app);
  await app.listen({ port: 0, host: '127.0.0.1' });
  return `http://127.0.0.1:${(app.server.address() as AddressInfo).port}${path}`;
}

async function answerTo(request: Promise<Response>): Promise<[status: number, body: string]> {
  const response = await request;
  return [response.status, await response.text()];
}

/** Sends `piece` without an end, with rests, and gives the reply. Fastify reads on for a second. */
function unending(to: string, piece: Uint8Array, headers = delivery.headers): Promise<Response> {
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      controller.enqueue(piece);
      await wait(5);
    },
  });
  return fetch(to, { method: 'POST', headers, body, duplex: 'half' });
}

const RECEIVED = [200, '{"received":true}'];
const UNSIGNED = [401, '{"error":"invalid_signature"}'];
const TOO_LARGE = [413, '{"error":"body_too_large"}'];
const nothing = (): undefined => undefined;

describe.each(versions)('paymentWebhook on %s', (_version, create) => {
  it('credits a genuine delivery and refuses a forged one, by inject as the documents show it', async () => {
    const credited: string[] = [];
    const app = create();
    await app.register(
      paymentWebhook(
        { url, secret },
        { 'payment.succeeded': ({ reference }) => void credited.push(reference) },
      ),
    );
    const taken = await app.inject(delivery.toInject(url));
    expect([taken.statusCode, taken.body]).toEqual(RECEIVED);
    const refused = await app.inject(forged.toInject(url));
    expect([refused.statusCode, refused.body]).toEqual(UNSIGNED);
    const empty = await app.inject(signedDelivery({ secret, rawBody: '' }).toInject(url));
    expect([empty.statusCode, empty.body]).toEqual([400, '{"error":"invalid_payload"}']);
    const large = await app.inject(
      signedDelivery({ secret, rawBody: 'n'.repeat(65_537) }).toInject(url),
    );
    expect([large.statusCode, large.body]).toEqual(TOO_LARGE);
    expect(credited).toEqual(['order-42']);
  });

  it(
    'leaves sibling routes their parsers, in any order of registration',
    { tags: 'F07' },
    async () => {
      const app = create();
      app.addContentTypeParser('text/csv', { parseAs: 'string' }, (_request, body, done) => {
        done(null, body);
      });
      app.post('/before', (request) => ({ body: request.body }));
      await app.register(paymentWebhook({ url, secret }, nothing));
      app.post('/after', (request) => ({ body: request.body }));
      const address = await listen(app);
      expect(await answerTo(delivery.send(address))).toEqual(RECEIVED);
      for (const path of ['/before', '/after']) {
        const json = await app.inject({ method: 'POST', url: path, payload: { parsed: true } });
        expect(json.json()).toEqual({ body: { parsed: true } });
        const csv = await app.inject({
          method: 'POST',
          url: path,
          headers: { 'content-type': 'text/csv' },
          payload: 'a,b',
        });
        expect(csv.json()).toEqual({ body: 'a,b' });
        const unknown = await app.inject({
          method: 'POST',
          url: path,
          headers: { 'content-type': 'text/x' },
          payload: 'a',
        });
        expect(unknown.statusCode).toBe(415);
      }
    },
  );

  it.each(['*', 'application/octet-stream'])(
    'leaves no body to a parser of the app for %s',
    { tags: 'F07' },
    async (type) => {
      const app = create();
      app.addContentTypeParser(type, { parseAs: 'string' }, (_request, body, parsed) =>
        parsed(null, body),
      );
      await app.register(paymentWebhook({ url, secret }, nothing));
      const address = await listen(app);
      expect(await answerTo(delivery.send(address))).toEqual(RECEIVED);
      expect(await answerTo(forged.send(address))).toEqual(UNSIGNED);
    },
  );

  it(
    'works inside fastify-plugin, and then takes the parsers from its siblings',
    { tags: 'F09' },
    async () => {
      const app = create();
      const handler = vi.fn();
      await app.register(
        fastifyPlugin(paymentWebhook({ url, secret }, handler), { name: 'webhook' }),
      );
      app.post('/sibling', (request) => ({ parsed: typeof request.body }));
      const address = await listen(app);
      expect(await answerTo(delivery.send(address))).toEqual(RECEIVED);
      expect(await answerTo(forged.send(address))).toEqual(UNSIGNED);
      expect(handler).toHaveBeenCalledOnce();
      // As the README says: the sibling gets no body.
      const { body } = await app.inject({
        method: 'POST',
        url: '/sibling',
        payload: { reference: 'a' },
      });
      expect(body).toBe('{"parsed":"undefined"}');
    },
  );

  it.each([
    ['lower than ours, of the whole application', { bodyLimit: 100 }, undefined, {}, 100],
    ['lower than ours, of the route', {}, 100, {}, 100],
    ['higher than ours', { bodyLimit: 5_000_000 }, undefined, { bodyLimit: 200 }, 200],
    ['of the route, over that of the application', { bodyLimit: 50 }, 300, {}, 300],
    ['not set', {}, undefined, {}, 65_536],
  ])(
    'applies the smaller limit if Fastify’s own is %s',
    async (_which, options, ofRoute, ours, limit) => {
      const app = create(options);
      const routeOptions = ofRoute === undefined ? {} : { bodyLimit: ofRoute };
      await app.register(paymentWebhook({ url, secret, routeOptions, ...ours }, nothing));
      const address = await listen(app);
      const padded = (length: number): string => '{"reference":"a"}'.padEnd(length);
      expect(
        await answerTo(signedDelivery({ secret, rawBody: padded(limit) }).send(address)),
      ).toEqual(RECEIVED);
      expect(
        await answerTo(signedDelivery({ secret, rawBody: padded(limit + 1) }).send(address)),
      ).toEqual(TOO_LARGE);
      expect(await answerTo(unending(address, Buffer.alloc(limit + 1)))).toEqual(TOO_LARGE);
    },
  );

  it.each([
    ['Node', PassThrough],
    ['readable-stream 3', older.PassThrough],
  ])(
    'reads the output of a global preParsing hook, as a stream of %s, under the same limits',
    async (_of, Stream) => {
      const app = create();
      app.addHook('preParsing', (_request, _reply, payload, done) => {
        done(null, payload.pipe(new Stream()));
      });
      const handler = vi.fn();
      await app.register(
        paymentWebhook({ url, secret, bodyLimit: 1_000, bodyTimeout: 200 }, handler),
      );
      const address = await listen(app);
      expect(await answerTo(delivery.send(address))).toEqual(RECEIVED);
      expect(await answerTo(forged.send(address))).toEqual(UNSIGNED);
      expect(await answerTo(unending(address, Buffer.alloc(400)))).toEqual(TOO_LARGE);
      expect(
        await answerTo(signedDelivery({ secret, rawBody: 'n'.repeat(1_001) }).send(address)),
      ).toEqual(TOO_LARGE);
      expect(handler).toHaveBeenCalledOnce();
    },
  );

  it('answers if the stream of a hook fails, which nobody reads', { tags: 'N19' }, async () => {
    const app = create();
    app.addHook('preParsing', (_request, _reply, payload, done) => {
      done(null, payload.pipe(createGunzip()));
    });
    await app.register(paymentWebhook({ url, secret }, nothing));
    const address = await listen(app);
    const zipped = { ...delivery.headers, 'content-encoding': 'gzip' };
    const post = (headers: Record<string, string>): Promise<Response> =>
      fetch(address, { method: 'POST', headers, body: 'neither signed nor zipped' });
    expect(await answerTo(post({}))).toEqual(UNSIGNED);
    expect(await answerTo(post(delivery.headers))).toEqual(UNSIGNED);
    expect(await answerTo(post(zipped))).toEqual([415, '{"error":"unsupported_encoding"}']);
    expect(await answerTo(delivery.send(address))).toEqual(RECEIVED);
  });

  it('loses no byte of a hook’s stream that flows while a later hook waits', async () => {
    const app = create();
    app.addHook('preParsing', (_request, _reply, payload, done) => {
      done(null, payload.pipe(new PassThrough()).on('data', nothing));
    });
    app.addHook('preHandler', () => new Promise((resolve) => setTimeout(resolve, 20)));
    await app.register(paymentWebhook({ url, secret }, nothing));
    const address = await listen(app);
    expect(await answerTo(delivery.send(address))).toEqual(RECEIVED);
    expect(await answerTo(forged.send(address))).toEqual(UNSIGNED);
  });

  const bodies = { object: {}, bytes: Buffer.from('{"reference":"order-43"}') };
  it.each(Object.entries(bodies))(
    'reads the received bytes, and not the request.body of a hook (%s)',
    async (_name, body) => {
      const credited: string[] = [];
      for (const hook of ['preValidation', 'preHandler']) {
        const app = create();
        app.addHook(hook as 'preHandler', (request, _reply, done) => {
          request.body = body;
          done();
        });
        app.register(
          paymentWebhook({ url, secret }, ({ reference }) => void credited.push(reference)),
        );
        const to = await listen(app);
        expect(await answerTo(delivery.send(to))).toEqual(RECEIVED);
        expect(await answerTo(forged.send(to))).toEqual(UNSIGNED);
      }
      expect(credited).toEqual(['order-42', 'order-42']);
    },
  );

  it('verifies the bytes that a hook kept as request.rawBody', async () => {
    const app = create();
    app.addHook('preParsing', async (request, _reply, payload) => {
      Object.assign(request, { rawBody: Buffer.concat(await payload.toArray()) });
      return Readable.from([]);
    });
    await app.register(paymentWebhook({ url, secret }, nothing));
    const to = await listen(app);
    expect(await answerTo(delivery.send(to))).toEqual(RECEIVED);
    expect(await answerTo(forged.send(to))).toEqual(UNSIGNED);
  });

  it('names the bytes to keep if a hook turns the body into text', async () => {
    const app = create();
    app.addHook('onRequest', async ({ raw }) => void raw.setEncoding('utf8').on('data', nothing));
    const logger = { warn: vi.fn(), error: vi.fn() };
    await app.register(paymentWebhook({ url, secret, logger }, nothing));
    const consumed = [500, '{"error":"body_consumed"}'];
    expect(await answerTo(delivery.send(await listen(app)))).toEqual(consumed);
    expect(logger.error.mock.calls[0]![0]).toContain('must keep request.rawBody');
  });

  it('calls no getter of the app at request.rawBody', async () => {
    const app = create();
    const getter = vi.fn(() => Buffer.from('{"reference":"order-43"}'));
    app.decorateRequest('rawBody', { getter });
    await app.register(paymentWebhook({ url, secret }, nothing));
    expect(await answerTo(delivery.send(await listen(app)))).toEqual(RECEIVED);
    expect(getter).not.toHaveBeenCalled();
  });

  it('leaves a text that a hook kept as request.rawBody off the message of Node', async () => {
    const app = create();
    app.addHook('preHandler', async (request) => {
      Object.assign(request, { rawBody: 'a text' });
    });
    const seen: unknown[] = [];
    const look = (_event: unknown, { request }: { readonly request: { raw: object } }): void => {
      seen.push('rawBody' in request.raw);
    };
    await app.register(paymentWebhook({ url, secret }, look));
    expect(await answerTo(delivery.send(await listen(app)))).toEqual(RECEIVED);
    expect(seen).toEqual([false]);
  });

  it('keeps hooks and other code from a second reply while a refused sender still uploads', async () => {
    const app = create();
    const ran: string[] = [];
    app.addHook('preSerialization', async () => void ran.push('preSerialization'));
    app.addHook('onSend', async () => void ran.push('onSend'));
    app.addHook('onError', async () => void ran.push('onError'));
    let late: FastifyReply | undefined;
    app.addHook('onRequest', async (_request, reply) => void (late = reply));
    await app.register(paymentWebhook({ url, secret }, nothing));
    const request = http.request(await listen(app), { method: 'POST' });
    request.write('the first piece');
    const [response] = (await once(request, 'response')) as [http.IncomingMessage];
    expect(response.statusCode).toBe(401);
    // Such as the guard of a slow request.
    await late!.code(503).send({ error: 'too slow' });
    expect(ran).toEqual([]);
    request.destroy();
  });

  it(
    'shows no `request.body` to hooks, and works if they copy and log it',
    { tags: 'O14' },
    async () => {
      const bodies: unknown[] = [];
      const app = create();
      const look = (request: { readonly body: unknown }): void => {
        bodies.push(JSON.stringify(request.body), structuredClone(request.body));
      };
      app.addHook('preValidation', async (request) => look(request));
      app.addHook('preHandler', async (request) => look(request));
      app.addHook('onSend', async (request) => look(request));
      app.addHook('onResponse', async (request) => look(request));
      await app.register(paymentWebhook({ url, secret }, nothing));
      const address = await listen(app);
      expect(await answerTo(delivery.send(address))).toEqual(RECEIVED);
      expect(await answerTo(forged.send(address))).toEqual(UNSIGNED);
      expect(bodies.length).toBeGreaterThanOrEqual(8);
      expect(bodies.filter((body) => body !== undefined)).toEqual([]);
    },
  );

  it('makes its loggers by the childLoggerFactory of routeOptions', async () => {
    const app = create();
    const made: unknown[] = [];
    const routeOptions: RouteShorthandOptions = {
      childLoggerFactory(logger, bindings, options) {
        made.push(this);
        return logger.child(bindings, options);
      },
    };
    await app.register(paymentWebhook({ url, secret, routeOptions }, nothing));
    const { statusCode } = await app.inject(delivery.toInject(url));
    expect([statusCode, made]).toEqual([200, [expect.objectContaining({ prefix: '' })]]);
  });

  it('runs the hooks of routeOptions, and tells onResponse hooks the status', async () => {
    const seen: unknown[] = [];
    const app = create();
    app.addHook('onResponse', (_request, reply, done) => {
      seen.push(reply.statusCode);
      done();
    });
    await app.register(
      paymentWebhook(
        {
          url,
          secret,
          routeOptions: {
            onRequest: (_request, _reply, done) => {
              seen.push('onRequest');
              done();
            },
          },
        },
        nothing,
      ),
    );
    const address = await listen(app);
    await delivery.send(address);
    await forged.send(address);
    expect(seen).toEqual(['onRequest', 200, 'onRequest', 401]);
  });

  it('reads no option from a polluted Object.prototype', { tags: 'O07' }, async () => {
    const value = { bodyLimit: 1 };
    Object.defineProperty(Object.prototype, 'routeOptions', { value, configurable: true });
    let plugin: ReturnType<typeof paymentWebhook>;
    try {
      plugin = paymentWebhook({ url, secret }, nothing);
    } finally {
      Reflect.deleteProperty(Object.prototype, 'routeOptions');
    }
    const app = create();
    await app.register(plugin);
    expect(await answerTo(delivery.send(await listen(app)))).toEqual(RECEIVED);
  });

  it('names the line to write if the function itself is registered', () => {
    const use = paymentWebhook as unknown as (...values: unknown[]) => never;
    expect(() => use({ secret }, nothing)).toThrow(/^url must be a path/);
    expect(() => use(create(), nothing)).toThrow(
      "url must be a path: app.register(paymentWebhook({ url: '/…', secret }, handlers))",
    );
  });
});

const listeners: Readonly<Record<string, (app: FastifyInstance) => unknown>> = {
  'a hook, and an async preParsing hook follows': (app) =>
    app
      .addHook('onRequest', ({ raw }, _reply, done) => {
        raw.on('data', nothing);
        done();
      })
      .addHook('preParsing', async () => undefined),
  'an async hook after a slow hook': (app) =>
    app
      .addHook('onRequest', () => new Promise((resolve) => setTimeout(resolve, 20)))
      .addHook('onRequest', async ({ raw }) => void raw.on('data', nothing)),
};

describe.each(versions)('a `data` listener in front on %s', (_version, create) => {
  it('takes no byte before an async hook that takes its time', { tags: 'O11' }, async () => {
    const app = create();
    const pieces: unknown[] = [];
    app.addHook('onRequest', async ({ raw }) => {
      raw.on('data', (piece) => pieces.push(piece));
      await new Promise((resolve) => setTimeout(resolve, 20));
    });
    await app.register(paymentWebhook({ url, secret }, nothing));
    const address = await listen(app);
    for (let time = 0; time < 3; time++) {
      expect(await answerTo(delivery.send(address))).toEqual(RECEIVED);
      expect(await answerTo(forged.send(address))).toEqual(UNSIGNED);
    }
    expect(pieces).toHaveLength(6);
  });

  it.each<[string, (app: FastifyInstance) => unknown]>([
    [
      'a hook that waits for the end',
      (app) => app.addHook('onRequest', ({ raw }) => once(raw.on('data', nothing), 'end')),
    ],
    [
      'a preParsing hook that passes on the bytes by hand',
      (app) =>
        app.addHook('preParsing', (_request, _reply, payload, done) => {
          const out = new PassThrough();
          payload.on('data', (piece) => out.write(piece)).on('end', () => out.end());
          done(null, out);
        }),
    ],
    [
      'a hook that pipes the body elsewhere',
      (app) =>
        app.addHook('onRequest', async ({ raw }) => {
          await finished(raw.pipe(new PassThrough()).resume());
        }),
    ],
  ])('costs no delivery if it is in %s', { tags: 'O11' }, async (_where, add) => {
    const app = create();
    add(app);
    for (const path of [url, '/:tenant/other']) {
      await app.register(paymentWebhook({ url: path, secret, bodyLimit: 1_000 }, nothing));
    }
    const long = signedDelivery({ secret, rawBody: Buffer.alloc(300_000, 32) });
    const origin = await listen(app, '');
    for (const path of [url, '/a/other']) {
      const address = origin + path;
      expect(await answerTo(delivery.send(address))).toEqual(RECEIVED);
      expect(await answerTo(forged.send(address))).toEqual(UNSIGNED);
      expect((await long.send(address)).status).toBe(413);
    }
  });

  it(
    'keeps a body up to the largest limit of the routes that may be meant',
    { tags: 'O11' },
    async () => {
      const app = create();
      app.addHook('onRequest', ({ raw }) => once(raw.on('data', nothing), 'end'));
      const routeOptions = { bodyLimit: 1_000 };
      await app.register(paymentWebhook({ url: '/shops/main', secret, routeOptions }, nothing));
      await app.register(paymentWebhook({ url: '/shops/:shop', secret }, nothing));
      const payload = { reference: 'order-42', note: 'x'.repeat(40_000) };
      const long = signedDelivery({ secret, rawBody: Buffer.from(JSON.stringify(payload)) });
      const origin = await listen(app, '');
      expect((await long.send(`${origin}/shops/main`)).status).toBe(413);
      expect(await answerTo(long.send(`${origin}/shops/other`))).toEqual(RECEIVED);
    },
  );

  it.each<[string, (app: FastifyInstance) => unknown]>([
    [
      'pauses the request',
      (app) => app.addHook('onRequest', async ({ raw }) => void raw.on('data', nothing).pause()),
    ],
    [
      'pipes the request to a sink that stops',
      (app) =>
        app.addHook('onRequest', async ({ raw }) => {
          raw.pipe(new PassThrough({ highWaterMark: 1 }));
        }),
    ],
    [
      'reads by `readable`',
      (app) =>
        app.addHook('onRequest', async ({ raw }) => {
          raw.on('readable', () => {
            while (raw.read() !== null);
          });
        }),
    ],
    [
      'listens before Fastify',
      (app) => {
        app.addHook('onRequest', async () => undefined);
        app.server.prependListener('request', (req) => void req.on('data', nothing));
      },
    ],
  ])('costs no delivery if other code %s', { tags: 'R02' }, async (_what, add) => {
    const app = create();
    add(app);
    await app.register(paymentWebhook({ url, secret, bodyTimeout: 2_000 }, nothing));
    const address = await listen(app);
    const payload = { reference: 'order-42', note: 'x'.repeat(40_000) };
    const long = signedDelivery({ secret, rawBody: Buffer.from(JSON.stringify(payload)) });
    expect(await answerTo(delivery.send(address))).toEqual(RECEIVED);
    expect(await answerTo(long.send(address))).toEqual(RECEIVED);
    expect(await answerTo(forged.send(address))).toEqual(UNSIGNED);
  });

  it.each<[string, object, string]>([
    ['a rewritten URL', { rewriteUrl: (req: { url: string }) => req.url.slice(4) }, `/api${url}`],
    ['another case', { caseSensitive: false }, url.toUpperCase()],
    ['two slashes', { ignoreDuplicateSlashes: true }, `/${url}`],
    ['a percent-encoded letter', {}, url.replace('p', '%70')],
    ['an absolute target', {}, `http://shop.example${url}`],
    ['a prefix', {}, `/shop${url}`],
  ])(
    'takes no byte from a webhook that Fastify finds by %s',
    { tags: 'R02' },
    async (_how, options, path) => {
      const app = (create as (options: object) => FastifyInstance)(options);
      opened.add(app);
      app.addHook('onRequest', async ({ raw }) => void raw.on('data', nothing));
      for (const prefix of ['', '/shop']) {
        await app.register(paymentWebhook({ url, secret }, nothing), { prefix });
      }
      await app.listen({ port: 0, host: '127.0.0.1' });
      const { port } = app.server.address() as AddressInfo;
      const request = http.request({ port, method: 'POST', path, headers: delivery.headers });
      request.end(delivery.rawBody);
      const [response] = (await once(request, 'response')) as [http.IncomingMessage];
      expect([response.resume().statusCode]).toEqual([200]);
    },
  );

  it('copies no upload to another route below a parameter', { tags: 'R03' }, async () => {
    const app = create();
    const listeners: number[] = [];
    app.addHook('onRequest', ({ raw }, _reply, done) => {
      listeners.push(raw.on('data', nothing).listenerCount('data'));
      done();
    });
    await app.register(paymentWebhook({ url: '/:merchant/payments', secret }, nothing));
    app.post('/:merchant/uploads', () => 'kept');
    const origin = await listen(app, '');
    const headers = { 'content-type': 'text/plain' };
    await fetch(`${origin}/a/uploads`, { method: 'POST', body: 'an upload', headers });
    expect(await answerTo(delivery.send(`${origin}/a/payments`))).toEqual(RECEIVED);
    // The second listener is the copy of the webhook.
    expect(listeners).toEqual([1, 2]);
  });

  it('copies no more of an upload than the limit of the app', { tags: 'R03' }, async () => {
    const app = create({ bodyLimit: 1_000 });
    app.addHook('onRequest', ({ raw }) => once(raw.on('data', nothing), 'end'));
    await app.register(paymentWebhook({ url, secret }, nothing));
    const address = await listen(app);
    const push = vi.spyOn(Readable.prototype, 'push');
    const upload = signedDelivery({ secret, rawBody: Buffer.alloc(5_000_000) });
    expect(await answerTo(upload.send(address))).toEqual(TOO_LARGE);
    const lengths = push.mock.calls.map(([piece]: readonly unknown[], index) =>
      push.mock.contexts[index]!.constructor === Readable
        ? ((piece as Buffer | null)?.length ?? 0)
        : 0,
    );
    // The piece that exceeds the limit is kept too.
    expect(lengths.reduce((sum, length) => sum + length)).toBeLessThan(200_000);
  });

  it('hangs no other route of the same path, and warns of no leak', { tags: 'O11' }, async () => {
    const warned = vi.fn();
    process.on('warning', warned);
    const app = create();
    app.addContentTypeParser('text/csv', (_request, payload, parsed) => {
      let text = '';
      payload.on('data', (piece) => (text += String(piece)));
      payload.on('end', () => parsed(null, text));
    });
    for (let number = 0; number < 12; number++) {
      await app.register(
        paymentWebhook({ url: number === 0 ? url : `/${number}`, secret }, nothing),
      );
    }
    app.put(url, (request) => ({ body: request.body }));
    const headers = { 'content-type': 'text/csv' };
    const reply = await fetch(await listen(app), { method: 'PUT', body: 'a;b', headers });
    expect(await reply.json()).toEqual({ body: 'a;b' });
    expect(warned).not.toHaveBeenCalled();
    process.off('warning', warned);
  });

  it.each(Object.entries(listeners))(
    'takes no byte if it is in %s',
    { tags: 'O11' },
    async (_where, add) => {
      const app = create();
      add(app);
      await app.register(paymentWebhook({ url: '/:tenant/payments', secret }, nothing));
      const address = await listen(app);
      for (let time = 0; time < 3; time++) {
        expect(await answerTo(delivery.send(address))).toEqual(RECEIVED);
        expect(await answerTo(forged.send(address))).toEqual(UNSIGNED);
      }
    },
  );

  it('gets the bytes of a sibling route', async () => {
    const app = create();
    const seen: string[] = [];
    app.addHook('onRequest', ({ raw }, _reply, done) => {
      raw.on('data', (piece: Buffer) => seen.push(piece.toString()));
      done();
    });
    await app.register(paymentWebhook({ url, secret }, nothing));
    app.post(`${url}/sibling`, (request) => ({ body: request.body }));
    const to = await listen(app, `${url}/sibling`);
    const reply = await fetch(to, {
      method: 'POST',
      body: 'plain',
      headers: { 'content-type': 'text/plain' },
    });
    expect([await reply.json(), seen]).toEqual([{ body: 'plain' }, ['plain']]);
  });
});

describe('paymentWebhook beside fastify-raw-body', () => {
  it.each([
    ['at its defaults', {}],
    ['with encoding false', { encoding: false, global: true }],
    ['before parsing', { runFirst: true, encoding: false }],
  ] as const)('credits genuine deliveries and refuses forged ones %s', async (_how, options) => {
    const app = fastify();
    await app.register(rawBody, options);
    const handler = vi.fn();
    await app.register(paymentWebhook({ url, secret }, handler));
    app.post('/other', (request) => ({ kept: String(request.rawBody) }));
    const address = await listen(app);
    for (let time = 0; time < 2; time++) {
      expect(await answerTo(delivery.send(address))).toEqual(RECEIVED);
      expect(await answerTo(forged.send(address))).toEqual(UNSIGNED);
    }
    expect(handler).toHaveBeenCalledTimes(2);
    const other = await app.inject({ method: 'POST', url: '/other', payload: { parsed: true } });
    expect(other.json()).toEqual({ kept: '{"parsed":true}' });
  });
});

describe('paymentWebhook beside @fastify/compress', () => {
  it('sends the same bytes as without it, and inflates nothing', async () => {
    const app = fastify();
    await app.register(compress, { threshold: 0 });
    const handler = vi.fn();
    await app.register(paymentWebhook({ url, secret }, handler));
    const address = await listen(app);
    const post = (body: Uint8Array, headers: Record<string, string>): Promise<Response> =>
      fetch(address, {
        method: 'POST',
        headers: { 'accept-encoding': 'gzip', ...headers },
        body: new Uint8Array(body),
      });

    const taken = await post(delivery.rawBody, delivery.headers);
    expect([taken.status, await taken.text(), taken.headers.get('content-encoding')]).toEqual([
      ...RECEIVED,
      null,
    ]);
    for (const body of [
      gzipSync(delivery.rawBody),
      delivery.rawBody,
      gzipSync(delivery.rawBody).subarray(0, 20),
    ]) {
      const zipped = { ...delivery.headers, 'content-encoding': 'gzip' };
      expect(await answerTo(post(body, zipped))).toEqual([415, '{"error":"unsupported_encoding"}']);
    }
    expect(await answerTo(delivery.send(address))).toEqual(RECEIVED);
    expect(handler).toHaveBeenCalledTimes(2);
  });
});

describe('paymentWebhook on Fastify over HTTP/2', () => {
  it('answers genuine and forged deliveries over one connection, behind a hook', async () => {
    const app = fastify({ http2: true });
    app.addHook('preParsing', (_request, _reply, payload, done) =>
      done(null, payload.pipe(new PassThrough())),
    );
    await app.register(paymentWebhook({ url, secret }, nothing));
    await app.listen({ port: 0, host: '127.0.0.1' });
    const session = http2.connect(`http://127.0.0.1:${(app.server.address() as AddressInfo).port}`);
    try {
      for (const [{ headers, rawBody }, status] of [
        [delivery, 200],
        [forged, 401],
        [delivery, 200],
      ] as const) {
        const stream = session.request({ ':method': 'POST', ':path': url, ...headers });
        stream.resume().end(rawBody);
        const [received] = (await once(stream, 'response')) as [http2.IncomingHttpHeaders];
        expect(received[':status']).toBe(status);
        await once(stream, 'close');
      }
    } finally {
      session.destroy();
      await app.close();
    }
  });

  it('does not end the process if a later hook destroys the request', async () => {
    const app = fastify({ http2: true });
    app.addHook('preHandler', async ({ raw }) => void raw.destroy(new Error('by a hook')));
    await app.register(
      paymentWebhook({ url, secret, logger: { warn: nothing, error: nothing } }, nothing),
    );
    await app.listen({ port: 0, host: '127.0.0.1' });
    const session = http2.connect(`http://127.0.0.1:${(app.server.address() as AddressInfo).port}`);
    try {
      const stream = session.request({ ':method': 'POST', ':path': url, ...delivery.headers });
      stream.resume().end(delivery.rawBody);
      const [received] = (await once(stream, 'response')) as [http2.IncomingHttpHeaders];
      expect(received[':status']).toBe(400);
    } finally {
      session.destroy();
      await app.close();
    }
  });
});

it.each([
  ['Fastify 5', fastify],
  ['Fastify 4', fastify4 as unknown as typeof fastify],
])('logs the stack to the logger of %s, without the fields of the error', async (_, create) => {
  const lines: string[] = [];
  const app = create({
    logger: { level: 'error', stream: { write: (line: string) => void lines.push(line) } },
  });
  const fail = (): never => {
    const config = { headers: { Authorization: 'Bearer sk_live_a.b' } };
    throw Object.assign(new Error('Request failed with status code 401'), { config });
  };
  await app.register(paymentWebhook({ url, secret, logger: app.log }, fail));
  expect((await app.inject(delivery.toInject(url))).statusCode).toBe(500);
  await app.close();
  expect(lines.map((line) => JSON.parse(line) as unknown)).toEqual([
    expect.objectContaining({
      code: 'handler_failed',
      reference: 'order-42',
      stack: expect.stringMatching(/^Error: Request failed/) as string,
    }),
  ]);
  expect(lines.join('')).not.toContain('sk_live_');
});
