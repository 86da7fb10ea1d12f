/** Checks that no value that handlers habitually return or throw acknowledges, on any host. */
import { createRequire } from 'node:module';
import { isWebhookError, WebhookError } from '@paylink/core';
import { paymentWebhook as fetchWebhook } from '@paylink/fetch';
import { paymentWebhook as lambdaWebhook } from '@paylink/lambda';
import { paymentWebhook as nextWebhook } from '@paylink/next';
import { signedDelivery } from '@paylink/testing';
import { HTTPException } from 'hono/http-exception';
import { of } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { post, SECRET } from './deliveries.js';
import type { Host } from './hosts/host.js';
import { honoGate } from './hosts/hono.js';
import { handlerHosts } from './hosts/index.js';
import { koa2Gate } from './hosts/koa2.js';
import { koa3Gate } from './hosts/koa3.js';
import { nestHosts } from './hosts/nest.js';
import { expectAcknowledged, serve } from './serving.js';
import { log } from './watch.js';
import { exchange, type WireReply } from './wire.js';

const MESSAGE = 'only the merchant may read this';
const HEADERS = {
  'x-leaked': MESSAGE,
  location: '/leaked',
  'set-cookie': 'leaked=1',
  'retry-after': '7',
};

const requireOfKoa = createRequire(createRequire(import.meta.url).resolve('koa'));
const createError = requireOfKoa('http-errors') as (
  status: number,
  message: string,
  fields: object,
) => Error;

function failing(fields: object = {}): Error {
  return Object.assign(new Error(MESSAGE), fields);
}

class WithGetters extends Error {
  get status(): number {
    return this.message.length > 0 ? 200 : 500;
  }
  get headers(): object {
    return { ...HEADERS, text: this.message };
  }
  get expose(): boolean {
    return this.message.length > 0;
  }
}

/** Returned values that mean failure (O08). */
const returned: Readonly<Record<string, () => unknown>> = {
  'an Error': () => failing(),
  'an Error with status 200': () =>
    failing({ status: 200, statusCode: 200, headers: HEADERS, expose: true }),
  'a Response of 503': () => new Response(MESSAGE, { status: 503, headers: HEADERS }),
  'a Response of 302': () => new Response(null, { status: 302, headers: HEADERS }),
  '{ statusCode: 503 }': () => ({ statusCode: 503, body: MESSAGE, headers: HEADERS }),
  '{ status: 503 }': () => ({ status: 503, body: MESSAGE, headers: HEADERS }),
  '{ status: 400 }': () => ({ status: 400, jsonBody: { error: MESSAGE } }),
  'a function': () => () => undefined,
  'a generator': function* () {
    yield MESSAGE;
  },
  'an async generator': async function* () {
    yield MESSAGE;
  },
  'an Observable': () => of(undefined),
};

/** Other values, which mean nothing. */
const successes: Readonly<Record<string, () => unknown>> = {
  undefined: () => undefined,
  null: () => null,
  text: () => 'credited',
  503: () => 503,
  "{ status: 'failed' }": () => ({ status: 'failed', statusCode: '503' }),
  '{ status: 200 }': () => ({ status: 200 }),
  'a Response of 204': () => new Response(null, { status: 204, headers: HEADERS }),
  'an object that inherits a status': () =>
    Object.create({ status: 503, statusCode: 503 }) as object,
};

/** Thrown values, and errors with fields that a host uses for its reply (O10, N07). */
const thrown: Readonly<Record<string, () => unknown>> = {
  ...Object.fromEntries(
    [200, 201, 204, 302, 404].flatMap((status) => [
      [`status ${status}`, () => failing({ status })],
      [`statusCode ${status}`, () => failing({ statusCode: status })],
      [
        `status ${status} with headers and expose`,
        () => failing({ status, headers: HEADERS, expose: true }),
      ],
    ]),
  ),
  'a parse error of superagent': () =>
    failing({
      status: 200,
      statusCode: 200,
      parse: true,
      rawResponse: MESSAGE,
      response: new Response(MESSAGE),
    }),
  'an error of axios': () =>
    failing({
      status: 200,
      response: { status: 200, statusCode: 200, headers: HEADERS, data: MESSAGE },
    }),
  'headers alone': () => failing({ headers: HEADERS }),
  'expose alone': () => failing({ expose: true }),
  reply: () => failing({ reply: { status: 200, headers: HEADERS, body: MESSAGE } }),
  Boom: () =>
    failing({
      isBoom: true,
      output: { statusCode: 200, payload: { message: MESSAGE }, headers: HEADERS },
    }),
  'http-errors': () => createError(404, MESSAGE, { headers: HEADERS, expose: true }),
  'an exception of Hono': () => new HTTPException(200, { message: MESSAGE }),
  'an exception of Hono with a Response': () =>
    new HTTPException(200, {
      message: MESSAGE,
      res: new Response(MESSAGE, { status: 201, headers: HEADERS }),
    }),
  'a redirect of Next.js': () => failing({ digest: 'NEXT_REDIRECT;replace;/leaked;307;' }),
  'toResponse of Elysia': () =>
    failing({ toResponse: () => new Response(MESSAGE, { headers: HEADERS }) }),
  'the code ENOENT': () => failing({ code: 'ENOENT' }),
  'a Response': () => new Response(MESSAGE, { status: 200, headers: HEADERS }),
  'an object': () => ({
    status: 200,
    statusCode: 200,
    headers: HEADERS,
    expose: true,
    message: MESSAGE,
  }),
  'an object without a prototype': () => Object.create(null) as object,
  'a frozen error': () => Object.freeze(failing()),
  'a frozen error with a status': () =>
    Object.freeze(failing({ status: 201, headers: HEADERS, expose: true })),
  getters: () => new WithGetters(MESSAGE),
  'a getter that throws': () =>
    Object.defineProperty(failing(), 'status', {
      enumerable: true,
      get() {
        throw failing({ status: 200, headers: HEADERS, expose: true });
      },
    }),
  'a Proxy of an error with status 200': () =>
    new Proxy(failing({ status: 200, expose: true }), {}),
  'a Proxy that throws': () =>
    new Proxy(failing(), {
      get() {
        throw failing({ status: 200 });
      },
      has() {
        throw failing({ status: 200 });
      },
    }),
  'a WebhookError whose status was changed': () =>
    Object.assign(new WebhookError('unknown_order', { message: MESSAGE }), { status: 200 }),
  'a WebhookError whose code was changed': () =>
    Object.assign(new WebhookError('unknown_order'), { code: MESSAGE }),
  // Express gives some of these values a meaning.
  ...Object.fromEntries(
    ['a text', 'route', 'router', '', undefined, null, 0, false].map((value) => [
      JSON.stringify(value) ?? 'undefined',
      () => value,
    ]),
  ),
};

type Handler = () => unknown;
type Case = readonly [name: string, handler: Handler];

const failures: readonly Case[] = [
  ...Object.entries(returned).flatMap(([name, make]): Case[] => [
    [`returns ${name}`, make],
    [`resolves with ${name}`, () => Promise.resolve(make())],
  ]),
  ...Object.entries(thrown).flatMap(([name, make]): Case[] => [
    [
      `throws ${name}`,
      () => {
        throw make();
      },
    ],
    [`rejects with ${name}`, () => Promise.reject(make())],
  ]),
];

function expectFailed(reply: WireReply): void {
  expect(reply.status).toBe(500);
  expect(reply.bytes.toString('latin1')).not.toMatch(new RegExp(`${MESSAGE}|leaked`, 'i'));
  expect(reply.headers.has('retry-after')).toBe(false);
}

describe.each(handlerHosts)('$name', (host) => {
  it.each(failures)('answers only 500 if a handler %s', async (_name, handler) => {
    const serving = await serve(host, { handler });
    const reply = await exchange(serving.port, post());
    expectFailed(reply);
    expect(reply.body).toBe(host.capabilities.failure);
    expect(serving.errors).toEqual([expect.any(Error)]);
  });

  it.each(Object.entries(successes))(
    'acknowledges if a handler returns %s',
    async (_name, handler) => {
      const serving = await serve(host, { handler });
      expectAcknowledged(await exchange(serving.port, post()));
    },
  );

  it('logs the thrown error on one line and passes it to the host as a cause', async () => {
    const error = Object.assign(new RangeError('the stock\nis empty'), { status: 200 });
    const serving = await serve(host, { handler: () => Promise.reject(error) });
    expectFailed(await exchange(serving.port, post()));
    expect(log()).toMatch(/\[paylink\] 500 handler_failed: .*RangeError: the stock is empty/);
    expect((serving.errors[0] as Error).cause).toBe(error);
  });
});

const withOwnHandling = handlerHosts.filter(({ capabilities }) =>
  capabilities.surroundings.includes('no error handler'),
);
const rejections = failures.filter(([name]) => name.startsWith('rejects'));

async function expectFailedByHost(host: Host, handler: Handler): Promise<void> {
  const serving = await serve(host, { surroundings: 'no error handler', handler });
  const reply = await exchange(serving.port, post());
  // Outside production, Express prints the stack and message of any error.
  if (host.name.startsWith('Express'))
    expect([reply.status, reply.headers.has('x-leaked')]).toEqual([500, false]);
  else expectFailed(reply);
}

describe.each(withOwnHandling)('$name without an error handler of the app', (host) => {
  it.each(rejections)('answers only 500 if a handler %s', async (_name, handler) => {
    await expectFailedByHost(host, handler);
  });

  it('keeps the message of a plain error out of the reply', async () => {
    await expectFailedByHost(host, () => Promise.reject(failing()));
  });
});

describe.each(nestHosts)('$name', (host) => {
  // Nest subscribes to a controller's Observable.
  it.each(failures.filter(([name]) => !name.includes('Observable')))(
    'answers only 500 if a controller %s',
    async (_name, handler) => {
      const serving = await serve(host, { handler });
      expectFailed(await exchange(serving.port, post()));
    },
  );
});

describe.each([koa3Gate, koa2Gate, honoGate])('$name', (host) => {
  const statuses = rejections.filter(([name]) => /status|exception|Proxy/.test(name));
  it.each(statuses)('answers no 2xx or 3xx if code behind the gate %s', async (_name, handler) => {
    const serving = await serve(host, { surroundings: 'no error handler', handler });
    const reply = await exchange(serving.port, post());
    expect(reply.status).toBeGreaterThanOrEqual(400);
  });
});

/** Functions that a platform calls: the returned promise is the result. */
const direct: Readonly<Record<string, (handler: Handler) => Promise<unknown>>> = {
  'AWS Lambda': (handler) => {
    const { headers, body } = signedDelivery({ secret: SECRET });
    return lambdaWebhook(
      { secret: SECRET },
      handler,
    )({ httpMethod: 'POST', headers, body: String(body) });
  },
  Fetch: (handler) =>
    fetchWebhook(
      { secret: SECRET },
      handler,
    )(signedDelivery({ secret: SECRET }).toRequest('http://localhost/')),
  'Next.js, App Router': (handler) =>
    nextWebhook(
      { secret: SECRET },
      handler,
    )(signedDelivery({ secret: SECRET }).toRequest('http://localhost/')),
};

describe.each(Object.entries(direct))('%s', (_name, invoke) => {
  it.each(failures)('rejects with a safe error if a handler %s', async (_case, handler) => {
    const error: unknown = await invoke(handler).then(
      () => expect.unreachable(),
      (reason: unknown) => reason,
    );
    expect(error).toBeInstanceOf(Error);
    expect(isWebhookError(error)).toBe(false);
    // A platform makes its answer from an error's own fields.
    const {
      status = 500,
      statusCode = 500,
      headers,
    } = error as { status?: number; statusCode?: number; headers?: unknown };
    expect([status, statusCode, headers]).toEqual([500, 500, undefined]);
  });
});
