import { once } from 'node:events';
import http from 'node:http';
import http2 from 'node:http2';
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
function unending(to: string, piece: Uint8Array): Promise<Response> {
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      controller.enqueue(piece);
      await wait(5);
    },
  });
  return fetch(to, { method: 'POST', headers: delivery.headers, body, duplex: 'half' });
}

const RECEIVED = [200, '{"received":true}'];
const UNSIGNED = [401, '{"error":"invalid_signature"}'];
const TOO_LARGE = [413, '{"error":"body_too_large"}'];
const nothing = (): undefined => undefined;

/** Expects the webhook at this address to credit a genuine delivery and to refuse a forged one. */
async function expectProof(address: string): Promise<void> {
  expect(await answerTo(delivery.send(address))).toEqual(RECEIVED);
  expect(await answerTo(forged.send(address))).toEqual(UNSIGNED);
}

describe.each(versions)('paymentWebhook on %s', (_version, create) => {
  it('credits a genuine delivery and refuses others, by inject as the documents show it', async () => {
    const credited: string[] = [];
    const app = create();
    const credit = ({ reference }: { readonly reference: string }) => void credited.push(reference);
    await app.register(paymentWebhook({ url, secret }, { 'payment.succeeded': credit }));
    for (const [sent, expected] of [
      [delivery, RECEIVED],
      [forged, UNSIGNED],
      [signedDelivery({ secret, rawBody: '' }), [400, '{"error":"invalid_payload"}']],
      [signedDelivery({ secret, rawBody: 'n'.repeat(65_537) }), TOO_LARGE],
    ] as const) {
      const { statusCode, body } = await app.inject(sent.toInject(url));
      expect([statusCode, body]).toEqual(expected);
    }
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
      for (const path of ['/before', '/after']) {
        const post = (type: string, payload: string) =>
          app.inject({ method: 'POST', url: path, headers: { 'content-type': type }, payload });
        expect((await post('application/json', '{"a":1}')).json()).toEqual({ body: { a: 1 } });
        expect((await post('text/csv', 'a,b')).json()).toEqual({ body: 'a,b' });
        expect((await post('text/x', 'a')).statusCode).toBe(415);
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
      await expectProof(await listen(app));
    },
  );

  it(
    'works inside fastify-plugin, and then takes the parsers from its siblings',
    { tags: 'F09' },
    async () => {
      const app = create();
      await app.register(
        fastifyPlugin(paymentWebhook({ url, secret }, nothing), { name: 'webhook' }),
      );
      app.post('/sibling', (request) => ({ parsed: typeof request.body }));
      await expectProof(await listen(app));
      // As the README says: the sibling gets no body.
      const { body } = await app.inject({ method: 'POST', url: '/sibling', payload: { a: 1 } });
      expect(body).toBe('{"parsed":"undefined"}');
    },
  );

  it.each([
    ['lower than ours, of the whole application', { bodyLimit: 100 }, undefined, {}, 100],
    ['lower than ours, of the route', {}, 100, {}, 100],
    ['higher than ours', { bodyLimit: 5_000_000 }, undefined, { bodyLimit: 200 }, 200],
    [
      'of the route, over that of the app',
      { bodyLimit: 50 },
      300_000,
      { bodyLimit: 400_000 },
      300_000,
    ],
    ['not set', {}, undefined, {}, 65_536],
  ])(
    'applies the smaller limit if Fastify’s own is %s, also behind a `data` listener',
    async (_which, options, ofRoute, ours, limit) => {
      const app = create(options);
      app.addHook('onRequest', async ({ raw }) => void raw.on('data', nothing));
      const routeOptions = ofRoute === undefined ? {} : { bodyLimit: ofRoute };
      await app.register(paymentWebhook({ url, secret, routeOptions, ...ours }, nothing));
      const address = await listen(app);
      const send = (length: number) =>
        signedDelivery({ secret, rawBody: '{"reference":"a"}'.padEnd(length) }).send(address);
      expect(await answerTo(send(limit))).toEqual(RECEIVED);
      expect(await answerTo(send(limit + 1))).toEqual(TOO_LARGE);
      expect(await answerTo(unending(address, Buffer.alloc(limit + 1)))).toEqual(TOO_LARGE);
    },
  );

  it('answers if the stream of a hook fails, which nobody reads', { tags: 'N19' }, async () => {
    const app = create();
    app.addHook('preParsing', (_request, _reply, payload, done) => {
      done(null, payload.pipe(createGunzip()));
    });
    await app.register(paymentWebhook({ url, secret }, nothing));
    const address = await listen(app);
    const post = (headers: Record<string, string>): Promise<Response> =>
      fetch(address, { method: 'POST', headers, body: 'neither signed nor zipped' });
    expect(await answerTo(post({}))).toEqual(UNSIGNED);
    expect(await answerTo(post(delivery.headers))).toEqual(UNSIGNED);
    expect(await answerTo(delivery.send(address))).toEqual(RECEIVED);
  });

  it('reads the received bytes, and not the request.body of a hook', async () => {
    const credited: string[] = [];
    const app = create();
    app.addHook('preHandler', async (request) => {
      request.body = Buffer.from('{"reference":"order-43"}');
    });
    app.register(paymentWebhook({ url, secret }, ({ reference }) => void credited.push(reference)));
    await expectProof(await listen(app));
    expect(credited).toEqual(['order-42']);
  });

  it('verifies the bytes that a hook kept as request.rawBody', async () => {
    const app = create();
    app.addHook('preParsing', async (request, _reply, payload) => {
      Object.assign(request, { rawBody: Buffer.concat(await payload.toArray()) });
      return Readable.from([]);
    });
    await app.register(paymentWebhook({ url, secret }, nothing));
    await expectProof(await listen(app));
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

  it('shows no `request.body` to hooks', { tags: 'O14' }, async () => {
    const bodies: unknown[] = [];
    const app = create();
    const look = async ({ body }: { readonly body: unknown }) => void bodies.push(body);
    for (const hook of ['preValidation', 'preHandler', 'onSend', 'onResponse'] as const)
      app.addHook(hook as 'preHandler', look);
    await app.register(paymentWebhook({ url, secret }, nothing));
    await expectProof(await listen(app));
    expect(bodies.length).toBeGreaterThanOrEqual(4);
    expect(bodies.filter((body) => body !== undefined)).toEqual([]);
  });

  it('makes its loggers by the childLoggerFactory of routeOptions, and keeps a body that a hook reads', async () => {
    const app = create();
    app.addHook('onRequest', ({ raw }) => once(raw.on('data', nothing), 'end'));
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
    app.addHook('onResponse', async (_request, { statusCode }) => void seen.push(statusCode));
    const routeOptions = { onRequest: async () => void seen.push('onRequest') };
    await app.register(paymentWebhook({ url, secret, routeOptions }, nothing));
    await expectProof(await listen(app));
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

type OnRequest = (raw: http.IncomingMessage) => unknown;
const onRequest = (work: OnRequest) => (app: FastifyInstance) =>
  app.addHook('onRequest', async ({ raw }) => {
    await work(raw);
  });

/** Other code that takes bytes of the request before the webhook reads the body. */
const listeners: Readonly<Record<string, (app: FastifyInstance) => unknown>> = {
  'a hook, and an async preParsing hook follows': (app) => {
    app.addHook('onRequest', ({ raw }, _reply, done) => {
      raw.on('data', nothing);
      done();
    });
    app.addHook('preParsing', async () => undefined);
  },
  'an async hook that takes its time': onRequest((raw) => {
    raw.on('data', nothing);
    return wait(20);
  }),
  'an async hook after a slow hook': (app) => {
    onRequest(() => wait(20))(app);
    onRequest((raw) => void raw.on('data', nothing))(app);
  },
  'a hook that waits for the end': onRequest((raw) => once(raw.on('data', nothing), 'end')),
  'a preParsing hook whose stream flows while a later hook waits': (app) => {
    app.addHook('preParsing', (_request, _reply, payload, done) => {
      done(null, payload.pipe(new PassThrough()).on('data', nothing));
    });
    app.addHook('preHandler', () => wait(20));
  },
  'a hook that pipes the body elsewhere': onRequest((raw) =>
    finished(raw.pipe(new PassThrough()).resume()),
  ),
  'a hook that pauses the request': onRequest((raw) => void raw.on('data', nothing).pause()),
  'a hook that pipes the request to a sink that stops': onRequest(
    (raw) => void raw.pipe(new PassThrough({ highWaterMark: 1 })),
  ),
  'a hook that reads by `readable`': onRequest((raw) => {
    raw.on('readable', () => {
      while (raw.read() !== null);
    });
  }),
  'a listener of the server before Fastify': (app) => {
    app.addHook('onRequest', async () => undefined);
    app.server.prependListener('request', (req) => void req.on('data', nothing));
  },
};

describe.each(versions)('a `data` listener in front on %s', (_version, create) => {
  it.each(Object.entries(listeners))(
    'costs no delivery if it is in %s',
    { tags: ['O11', 'R02'] },
    async (_where, add) => {
      const app = create();
      add(app);
      await app.register(paymentWebhook({ url, secret }, nothing), { prefix: '/:shop' });
      const address = await listen(app, `/a%20shop${url}`);
      const payload = { reference: 'order-42', note: 'x'.repeat(40_000) };
      const long = signedDelivery({ secret, rawBody: Buffer.from(JSON.stringify(payload)) });
      await expectProof(address);
      expect(await answerTo(long.send(address))).toEqual(RECEIVED);
      const tooLong = signedDelivery({ secret, rawBody: Buffer.alloc(300_000, 32) });
      expect(await answerTo(tooLong.send(address))).toEqual(TOO_LARGE);
    },
  );

  it('gets no copy of an upload to another route below a parameter', { tags: 'R03' }, async () => {
    const app = create();
    const counted: number[] = [];
    app.addHook('onRequest', ({ raw }, _reply, done) => {
      counted.push(raw.on('data', nothing).listenerCount('data'));
      done();
    });
    await app.register(paymentWebhook({ url: '/:merchant/payments', secret }, nothing));
    app.post('/:merchant/uploads', (request) => ({ body: request.body }));
    const origin = await listen(app, '');
    const headers = { 'content-type': 'text/plain' };
    const upload = { method: 'POST', body: 'an upload', headers };
    const kept = await answerTo(fetch(`${origin}/a/uploads`, upload));
    expect(kept).toEqual([200, '{"body":"an upload"}']);
    expect(await answerTo(delivery.send(`${origin}/a/payments`))).toEqual(RECEIVED);
    // The second listener is the copy of the webhook.
    expect(counted).toEqual([1, 2]);
  });

  it('makes the webhook copy no more of an upload than its limit', { tags: 'R03' }, async () => {
    const app = create({ bodyLimit: 1_000 });
    app.addHook('onRequest', ({ raw }) => once(raw.on('data', nothing), 'end'));
    await app.register(paymentWebhook({ url, secret }, nothing));
    const address = await listen(app);
    const push = vi.spyOn(Readable.prototype, 'push');
    const upload = signedDelivery({ secret, rawBody: Buffer.alloc(1_000_000) });
    expect(await answerTo(upload.send(address))).toEqual(TOO_LARGE);
    const lengths = push.mock.calls.map(([piece]: readonly unknown[], index) =>
      push.mock.contexts[index]!.constructor === Readable
        ? ((piece as Buffer | null)?.length ?? 0)
        : 0,
    );
    // The piece that exceeds the limit is kept too.
    expect(lengths.reduce((sum, length) => sum + length)).toBeLessThan(200_000);
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
    await app.register(paymentWebhook({ url, secret }, nothing));
    app.post('/other', (request) => ({ kept: String(request.rawBody) }));
    await expectProof(await listen(app));
    const other = await app.inject({ method: 'POST', url: '/other', payload: { parsed: true } });
    expect(other.json()).toEqual({ kept: '{"parsed":true}' });
  });
});

it('sends the same bytes as without @fastify/compress, and inflates nothing', async () => {
  const app = fastify();
  await app.register(compress, { threshold: 0 });
  await app.register(paymentWebhook({ url, secret }, nothing));
  const address = await listen(app);
  const post = (body: Uint8Array, more: Record<string, string>): Promise<Response> => {
    const headers = { 'accept-encoding': 'gzip', ...delivery.headers, ...more };
    return fetch(address, { method: 'POST', headers, body: new Uint8Array(body) });
  };
  const taken = await post(delivery.rawBody, {});
  expect(taken.headers.get('content-encoding')).toBeNull();
  expect([taken.status, await taken.text()]).toEqual(RECEIVED);
  const zipped = gzipSync(delivery.rawBody);
  for (const body of [zipped, delivery.rawBody, zipped.subarray(0, 20)]) {
    const refused = await answerTo(post(body, { 'content-encoding': 'gzip' }));
    expect(refused).toEqual([415, '{"error":"unsupported_encoding"}']);
  }
});

it('answers over HTTP/2 if a later hook destroys the request', async () => {
  const app = fastify({ http2: true });
  app.addHook('preHandler', async ({ raw }) => void raw.destroy(new Error('by a hook')));
  const logger = { warn: nothing, error: nothing };
  await app.register(paymentWebhook({ url, secret, logger }, nothing));
  const session = http2.connect(await listen(app as unknown as FastifyInstance, ''));
  const stream = session.request({ ':method': 'POST', ':path': url, ...delivery.headers });
  stream.resume().end(delivery.rawBody);
  const [received] = (await once(stream, 'response')) as [http2.IncomingHttpHeaders];
  expect(received[':status']).toBe(400);
  session.destroy();
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
