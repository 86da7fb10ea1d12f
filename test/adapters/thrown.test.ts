import { createRequire } from 'node:module';
import { WebhookError } from '@paylink/core';
import { paymentWebhook } from '@paylink/lambda';
import { signedDelivery } from '@paylink/testing';
import { HTTPException } from 'hono/http-exception';
import { describe, expect, it } from 'vitest';
import { post, SECRET } from './deliveries.js';
import type { Host } from './hosts/host.js';
import { honoGate } from './hosts/hono.js';
import { handlerHosts } from './hosts/index.js';
import { koa2Gate } from './hosts/koa2.js';
import { koa3Gate } from './hosts/koa3.js';
import { serve } from './serving.js';
import { log } from './watch.js';
import { exchange } from './wire.js';

const MESSAGE = 'what only the merchant may read';
const HEADERS = { 'x-leaked': MESSAGE, location: '/leaked', 'set-cookie': 'leaked=1', 'retry-after': '7' };

const requireOfKoa = createRequire(createRequire(import.meta.url).resolve('koa'));
const createError = requireOfKoa('http-errors') as (status: number, message: string, fields: object) => Error;

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

/** Errors with fields that some host takes for its reply, each under the name of where they are met. */
const speaking: Readonly<Record<string, () => unknown>> = {
  ...Object.fromEntries(
    [200, 201, 204, 302, 404].flatMap((status) => [
      [`status ${status}`, () => failing({ status })],
      [`statusCode ${status}`, () => failing({ statusCode: status })],
      [`status ${status} with headers and expose`, () => failing({ status, headers: HEADERS, expose: true })],
    ]),
  ),
  'a parse error of superagent': () =>
    failing({
      status: 200,
      statusCode: 200,
      parse: true,
      rawResponse: MESSAGE,
      response: new Response(MESSAGE, { headers: HEADERS }),
    }),
  'an error of axios': () => failing({ status: 200, response: { status: 200, statusCode: 200, headers: HEADERS, data: MESSAGE } }),
  'headers alone': () => failing({ headers: HEADERS }),
  'expose alone': () => failing({ expose: true }),
  reply: () => failing({ reply: { status: 200, headers: HEADERS, body: MESSAGE } }),
  Boom: () =>
    failing({ isBoom: true, output: { statusCode: 200, payload: { statusCode: 200, message: MESSAGE }, headers: HEADERS } }),
  'http-errors': () => createError(404, MESSAGE, { headers: HEADERS, expose: true }),
  'an exception of Hono': () => new HTTPException(200, { message: MESSAGE }),
  'an exception of Hono with a Response': () =>
    new HTTPException(200, { message: MESSAGE, res: new Response(MESSAGE, { status: 201, headers: HEADERS }) }),
  'a redirect of Next.js': () => failing({ digest: 'NEXT_REDIRECT;replace;/leaked;307;' }),
  'toResponse of Elysia': () => failing({ toResponse: () => new Response(MESSAGE, { status: 200, headers: HEADERS }) }),
  'the code ENOENT': () => failing({ code: 'ENOENT' }),
  'a Response': () => new Response(MESSAGE, { status: 200, headers: HEADERS }),
  'an object': () => ({ status: 200, statusCode: 200, headers: HEADERS, expose: true, message: MESSAGE }),
  'a frozen error': () => Object.freeze(failing()),
  'a frozen error with a status': () => Object.freeze(failing({ status: 201, headers: HEADERS, expose: true })),
  getters: () => new WithGetters(MESSAGE),
  'a getter that throws': () =>
    Object.defineProperty(failing(), 'status', {
      enumerable: true,
      get() {
        throw failing({ status: 200, headers: HEADERS, expose: true });
      },
    }),
  'a proxy that throws': () =>
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
  'a WebhookError whose code was changed': () => Object.assign(new WebhookError('unknown_order'), { code: MESSAGE }),
};

const cases = Object.entries(speaking);

async function expectFailed(host: Host, thrown: () => unknown, surroundings?: 'no error handler'): Promise<unknown> {
  const serving = await serve(host, {
    ...(surroundings && { surroundings }),
    handler: async () => {
      await Promise.resolve();
      throw thrown();
    },
  });
  const reply = await exchange(serving.port, post());
  expect(reply.status).toBe(500);
  expect(reply.bytes.toString('latin1')).not.toMatch(new RegExp(`${MESSAGE}|leaked`, 'i'));
  expect(reply.headers.has('retry-after')).toBe(false);
  if (surroundings === undefined) expect(reply.body).toBe(host.capabilities.failure);
  expect(serving.errors).toHaveLength(1);
  return serving.errors[0];
}

describe.each(handlerHosts)('$name', (host) => {
  it.each(cases)('answers 500 without a word of a thrown error that has %s (N07)', async (name, thrown) => {
    const error = thrown();
    const reached = await expectFailed(host, () => error);
    expect((reached as Error).cause).toBe(name.endsWith('throws') ? undefined : error);
  });

  it('says in the log what the handler threw, where the host is given another error for it (N07)', async () => {
    await expectFailed(host, () => Object.assign(new RangeError('the stock\nis empty'), { status: 200 }));
    expect(log()).toMatch(/\[paylink\] 500 handler_failed: .*RangeError: the stock is empty/);
  });
});

const withHandling = handlerHosts.filter(({ capabilities }) => capabilities.surroundings.includes('no error handler'));

describe.each(withHandling)('$name', (host) => {
  it.each(cases)('answers 500 by the own error handling of the host for %s (N07)', async (_name, thrown) => {
    await expectFailed(host, thrown, 'no error handler');
  });
});

// Not Express: outside production it prints the stack of any route's error.
describe.each(withHandling.filter(({ name }) => !name.startsWith('Express')))('$name', (host) => {
  it('keeps the message of a plain error out of the reply by the own error handling of the host (N07)', async () => {
    await expectFailed(host, failing, 'no error handler');
  });
});

describe.each([koa3Gate, koa2Gate])('$name', (host) => {
  it.each([200, 201, 204, 302])('turns no error that carries %i into a reply of that status (N07)', async (status) => {
    for (const fields of [{ status }, { statusCode: status, headers: HEADERS, expose: true }]) {
      await expectFailed(host, () => failing(fields), 'no error handler');
    }
  });

  it('leaves a refusal that middleware behind it throws to Koa (N07)', async () => {
    const serving = await serve(host, {
      surroundings: 'no error handler',
      handler: () => {
        throw createError(409, 'shipped', { expose: true });
      },
    });
    expect(await exchange(serving.port, post())).toMatchObject({ status: 409, body: 'shipped' });
  });
});

describe(honoGate.name, () => {
  it.each(cases.filter(([name]) => name.startsWith('an exception of Hono')))(
    'turns %s into no 2xx (N07)',
    async (_name, thrown) => {
      await expectFailed(honoGate, thrown, 'no error handler');
    },
  );
});

describe('AWS Lambda', () => {
  it.each(cases)('rejects the invocation without a word of a thrown error that has %s (N07)', async (name, thrown) => {
    const error = thrown();
    const invoke = paymentWebhook({ secret: SECRET }, () => Promise.reject(error as Error));
    const { headers, body } = signedDelivery({ secret: SECRET });
    const failure: unknown = await invoke({ httpMethod: 'POST', headers, body: String(body) }).catch((reason: unknown) => reason);
    expect((failure as Error).cause).toBe(name.endsWith('throws') ? undefined : error);
    // What Lambda makes the invocation's result of.
    const { message, stack } = failure as Error;
    expect(`${message}${stack}`).not.toMatch(new RegExp(`${MESSAGE}|leaked`));
  });
});
