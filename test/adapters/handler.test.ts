/** Results of handlers. Every host's app has an error handler that answers 200 (P13). */
import { WebhookError, type Logger } from '@paylink/core';
import { HTTPException } from 'hono/http-exception';
import { of } from 'rxjs';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { BODY, genuine, mac, post, REFERENCE } from './deliveries.js';
import { handlerHosts, newestHosts, readers } from './hosts/index.js';
import type { Host } from './hosts/host.js';
import { holdLimits } from './held-limits.js';
import { lambda } from './hosts/lambda.js';
import {
  eventually,
  expectAccepted,
  expectAcknowledged,
  expectForged,
  expectRefused,
  noConnections,
  serve,
} from './serving.js';
import { log } from './watch.js';
import { begin, exchange } from './wire.js';

const MESSAGE = 'only the merchant may read this';
const HEADERS = { 'x-leaked': MESSAGE, location: '/leaked', 'retry-after': '7' };

class OutOfStock extends Error {}

function failing(fields: object = {}): Error {
  return Object.assign(new Error(MESSAGE), fields);
}

/** Values that mean failure if a handler returns them. */
const returned: readonly (() => unknown)[] = [
  () => failing(),
  () => failing({ status: 200, statusCode: 200, headers: HEADERS, expose: true }),
  () => new Response(MESSAGE, { status: 503, headers: HEADERS }),
  () => new Response(null, { status: 302, headers: HEADERS }),
  () => ({ statusCode: 503, body: MESSAGE, headers: HEADERS }),
  () => ({ status: 400, jsonBody: { error: MESSAGE } }),
  () => () => undefined,
  function* () {
    yield MESSAGE;
  },
  async function* () {
    yield MESSAGE;
  },
  () => of(undefined),
];

/** Errors from which some host makes its reply, and values that are no errors. */
const withFields: readonly (() => unknown)[] = [
  ...[200, 204, 302, 404].flatMap((status) => [
    () => failing({ status, headers: HEADERS, expose: true }),
    () => failing({ statusCode: status }),
  ]),
  () => failing({ status: 200, response: { status: 200, headers: HEADERS, data: MESSAGE } }),
  () => failing({ isBoom: true, output: { statusCode: 200, payload: {}, headers: HEADERS } }),
  () => failing({ digest: 'NEXT_REDIRECT;replace;/leaked;307;' }),
  () => failing({ toResponse: () => new Response(MESSAGE, { headers: HEADERS }) }),
  () => failing({ reply: { status: 200, headers: HEADERS, body: MESSAGE }, code: 'ENOENT' }),
  () => new HTTPException(200, { res: new Response(MESSAGE, { status: 201, headers: HEADERS }) }),
  () => new Response(MESSAGE, { status: 200, headers: HEADERS }),
  () => ({ status: 200, statusCode: 200, headers: HEADERS, message: MESSAGE }),
  ...['route', 'router', '', undefined, null, 0, false].map((value) => () => value),
];

/** Errors that are hard to read. */
const hostile: readonly (() => unknown)[] = [
  () => Object.create(null) as object,
  () => Object.freeze(failing({ status: 200 })),
  () => new Proxy(failing({ status: 200 }), {}),
  () => Object.create(new Proxy(failing(), {})) as object,
  () =>
    new Proxy(failing(), {
      get: () => {
        throw failing({ status: 200 });
      },
    }),
  () => Object.defineProperty(failing(), 'stack', { get: () => expect.unreachable() }),
  () => Object.defineProperty(failing(), 'message', { get: () => expect.unreachable() }),
  () => Object.assign(new WebhookError('unknown_order', { message: MESSAGE }), { status: 200 }),
  () => Object.assign(new WebhookError('unknown_order'), { code: MESSAGE }),
];

/** Throws every other value, and rejects with the others. */
const thrown = (values: readonly (() => unknown)[]) =>
  values.map((make, index) =>
    index % 2 === 0
      ? () => {
          throw make();
        }
      : () => Promise.reject(make()),
  );

/** Sends a delivery for each result, and expects nothing but our 500. */
async function expectFailed(host: Host, results: readonly (() => unknown)[]): Promise<void> {
  let handler: () => unknown = () => undefined;
  const serving = await serve(host, { handler: () => handler() });
  for (handler of results) {
    const reply = await exchange(serving.port, post());
    expectRefused(reply, 500, 'handler_failed');
    expect(reply.bytes.toString('latin1')).not.toMatch(/only the merchant|leaked/i);
    expect(reply.headers.has('retry-after')).toBe(false);
  }
  expect(serving.errors).toHaveLength(results.length);
}

describe.each([...handlerHosts, lambda])('$name', (host) => {
  it(
    'answers 500 for an error, and gives it to onError and the log',
    { tags: ['G01', 'P13'] },
    async () => {
      const error = new OutOfStock('the stock\nis empty');
      const onError = vi.fn();
      const serving = await serve(host, {
        options: { onError },
        handler: () => Promise.reject(error),
      });
      expectRefused(await exchange(serving.port, post()), 500, 'handler_failed');
      expect(onError).toHaveBeenCalledTimes(1);
      const [given, context] = onError.mock.calls[0] as [unknown, object];
      expect([given, Object.keys(context).sort()]).toEqual([error, host.capabilities.context]);
      expect(log().match(/\[paylink\]/g)).toHaveLength(1);
      expect(log()).toMatch(
        new RegExp(`\\[paylink\\] 500 handler_failed: "${REFERENCE}": the stock is empty`),
      );
      expect(log()).toContain('handler.test.ts');
    },
  );

  it('answers 500 for every returned value that means failure', { tags: 'O08' }, async () => {
    const results = returned.map((make, index) =>
      index % 2 === 0 ? make : () => Promise.resolve(make()),
    );
    await expectFailed(host, results);
  });

  it(
    'gives the handler the request of the host, `signal`, and no means to answer',
    { tags: 'O09' },
    async () => {
      const contexts: { readonly signal?: AbortSignal }[] = [];
      const serving = await serve(host, {
        handler: (_event, context) => void contexts.push(context),
      });
      await expectAccepted(serving, post());
      expect(Object.keys(contexts[0]!).sort()).toEqual(host.capabilities.context);
      expect(contexts[0]!.signal).toBeInstanceOf(AbortSignal);
    },
  );
});

describe.each([...newestHosts, lambda])('$name', (host) => {
  it('answers 500 for every error whose fields a host would use', { tags: ['N07', 'P13'] }, () =>
    expectFailed(host, thrown(withFields)),
  );

  it('answers 500 for every error that is hard to read', { tags: 'O10' }, () =>
    expectFailed(host, thrown(hostile)),
  );

  it(
    'answers a WebhookError with its own code and status, and logs one line',
    { tags: 'H10' },
    async () => {
      let error: WebhookError | undefined;
      const serving = await serve(host, {
        handler: () => {
          throw error!;
        },
      });
      for (const [code, status, expected] of [
        ['unknown_order', undefined, 503],
        ['amount_differs', undefined, 409],
        ['some_code', undefined, 500],
        ['some_code', 429, 429],
      ] as const) {
        error = new WebhookError(code, { status, message: 'for the log' });
        const lines = log().split('[paylink]').length;
        expectRefused(await exchange(serving.port, post()), expected, code);
        expect(log().split('[paylink]')).toHaveLength(lines + 1);
        expect(log()).toContain(`[paylink] ${expected} ${code}: "${REFERENCE}": for the log`);
      }
    },
  );

  it(
    'answers 503 at handlerTimeout, aborts the signal, and sends one reply',
    { tags: 'G03' },
    async () => {
      let signal: AbortSignal | undefined;
      let late: Promise<unknown> | undefined;
      const serving = await serve(host, {
        options: { handlerTimeout: 100 },
        handler: ({ reference }, context) => {
          if (reference !== REFERENCE) return undefined;
          signal = context.signal;
          late = new Promise((_, reject) => {
            signal!.addEventListener('abort', () => setTimeout(reject, 20, new OutOfStock('late')));
          });
          return late;
        },
      });
      const wire = await begin(serving.port, post());
      expectRefused(await wire.reply(), 503, 'handler_timeout');
      expect(signal!.reason).toMatchObject({ code: 'handler_timeout' });
      await late!.catch(() => undefined);
      await wire.send(genuine('order-next'));
      expectAcknowledged(await wire.reply());
    },
  );

  it('loses no delivery while a handler blocks the event loop', { tags: 'G13' }, async () => {
    const serving = await serve(host, {
      handler: ({ reference }) => {
        if (reference !== 'order-blocking') return;
        for (const end = performance.now() + 30; performance.now() < end;);
      },
    });
    const before = await Promise.all(
      Array.from({ length: 3 }, () => begin(serving.port, post().subarray(0, -5))),
    );
    const replies = await Promise.all([
      exchange(serving.port, genuine('order-blocking')),
      ...before.map(async (wire) => {
        await wire.send(BODY.subarray(-5));
        return wire.reply();
      }),
      ...Array.from({ length: 3 }, () => exchange(serving.port, post())),
    ]);
    for (const reply of replies) expectAcknowledged(reply);
    expect(serving.events).toHaveLength(7);
  });
});

describe.each(newestHosts)('$name', (host) => {
  it('finishes the handler if the sender leaves', { tags: 'G07' }, async () => {
    let resume: (() => void) | undefined;
    let credited = 0;
    const serving = await serve(host, {
      handler: async ({ reference }) => {
        if (reference !== REFERENCE) return;
        await new Promise<void>((resolve) => (resume = resolve));
        credited += 1;
      },
    });
    for (const leave of ['finish', 'reset'] as const) {
      const wire = await begin(serving.port, post());
      await eventually('the handler', () => resume !== undefined);
      wire[leave]();
      await noConnections(serving);
      resume!();
      resume = undefined;
      await eventually('the credit', () => credited === (leave === 'finish' ? 1 : 2));
    }
    expect(serving.errors).toEqual([]);
  });

  it(
    'releases a handler that never settles at handlerTimeout, even if its sender is gone',
    { tags: 'G06' },
    async () => {
      let signal: AbortSignal | undefined;
      const limit = 20_000;
      const serving = await serve(host, {
        options: { handlerTimeout: limit },
        handler: ({ reference }, context) => {
          if (reference !== REFERENCE) return undefined;
          signal = context.signal;
          return new Promise<never>(() => undefined);
        },
      });
      using limits = holdLimits(limit);
      const wire = await begin(serving.port, post());
      await eventually('the handler', () => signal !== undefined);
      wire.reset();
      await noConnections(serving);
      // A leaving sender does not abort the handler. Only the time limit does.
      expect(signal!.aborted).toBe(false);
      limits.release(limit);
      await eventually('the abort', () => signal!.aborted);
    },
  );
});

describe.each([...readers, lambda])('$name', (host) => {
  afterEach(() => void vi.unstubAllEnvs());

  it('answers the same if the logger, `observe` and `onError` throw', { tags: 'N15' }, async () => {
    const fail = (): never => {
      throw new Error('the log is full');
    };
    const serving = await serve(host, {
      options: { logger: { warn: fail, error: fail }, observe: fail, onError: fail },
      handler: ({ reference }) => {
        if (reference === REFERENCE) throw new WebhookError('confirm_unavailable');
      },
    });
    const forged = post(undefined, { signature: '0'.repeat(64) });
    await expectForged(serving, forged);
    expectRefused(await exchange(serving.port, post()), 503, 'confirm_unavailable');
  });

  it(
    'writes one line to the console for each fault, and gives a logger its fields',
    { tags: 'P14' },
    async () => {
      vi.stubEnv('NODE_ENV', 'production');
      const error = new OutOfStock('sold');
      const handler = (): Promise<never> => Promise.reject(error);
      const forged = post(BODY, { signature: mac(BODY, 'another secret') });
      const serving = await serve(host, { handler, options: {} });
      await exchange(serving.port, forged);
      await exchange(serving.port, post());
      const lines = log()
        .split('\n')
        .filter((line) => line.includes('[paylink]'));
      expect(lines).toEqual([
        expect.stringContaining('[paylink] 401 invalid_signature: '),
        expect.stringContaining(`[paylink] 500 handler_failed: "${REFERENCE}": sold`),
      ]);

      const logger = { warn: vi.fn<Logger['warn']>(), error: vi.fn<Logger['error']>() };
      const logged = await serve(host, { handler, options: { logger } });
      await exchange(logged.port, forged);
      await exchange(logged.port, post());
      expect(logger.warn).toHaveBeenCalledTimes(1);
      expect(logger.error.mock.calls[0]![1]).toMatchObject({
        ...{ code: 'handler_failed', status: 500, reference: REFERENCE },
        ...{ kind: 'payment.succeeded', error },
      });
    },
  );
});
