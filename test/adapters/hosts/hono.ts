/** Hono on its Node server, with the Hono adapter and with the Fetch adapter. */
import http2 from 'node:http2';
import { createAdaptorServer, type HttpBindings } from '@hono/node-server';
import { paymentWebhook } from '@paylink/fetch';
import { paymentWebhook as honoWebhook, webhookEvent } from '@paylink/hono';
import { Hono, type MiddlewareHandler } from 'hono';
import { bodyLimit } from 'hono/body-limit';
import { PATH } from '../deliveries.js';
import { listening, SLOW, type Capabilities, type Host, type Listening } from './host.js';
import type { Setup, Surroundings } from './host.js';

const FAILURE = '{"error":"the error handler of the app"}';

const COMMON: Omit<Capabilities, 'gate' | 'surroundings' | 'hint'> = {
  routes: true,
  failure: FAILURE,
  banners: [],
  fetch: true,
  closes: false,
  parserErrors: 'Node',
  http2: true,
};

const SURROUNDINGS: readonly Surroundings[] = [
  'a JSON parser',
  'a JSON parser on the parent',
  'a text parser',
  'a naive reader',
  'something slow',
  'the webhook twice',
  'a mounted router',
  'every method',
  'no error handler',
];

const ON_NODE: readonly Surroundings[] = [
  'a clone',
  'a body limit',
  'an inflater',
  'a listener for data',
  'a listener for data, a tick earlier',
];

/** @paylink/fetch, as on any Fetch host. */
export const fetchOnHono: Host = {
  name: 'Fetch on Hono',
  capabilities: {
    ...COMMON,
    gate: false,
    surroundings: [...SURROUNDINGS, 'another webhook at once'],
    context: ['request', 'signal'],
    hint: /Pass the request itself to the webhook, before request\.json\(\)/,
  },
  listen(setup) {
    const { options, handler } = setup;
    const webhook = paymentWebhook(options, handler);
    return listen(setup, [({ req }) => webhook(req.raw)]);
  },
};

const ADAPTER: Omit<Capabilities, 'gate' | 'surroundings'> = {
  ...COMMON,
  closes: 'a 401',
  hint: /Put the webhook above middleware that reads the body|Pass the request itself to the webhook/,
};

export const hono: Host = {
  name: 'Hono',
  capabilities: {
    ...ADAPTER,
    context: ['env', 'executionCtx', 'req', 'signal', 'var'],
    gate: false,
    surroundings: [...SURROUNDINGS, 'another webhook at once', ...ON_NODE],
  },
  listen(setup) {
    const { options, handler } = setup;
    const webhook = honoWebhook(options, handler);
    return listen(setup, [webhook as MiddlewareHandler]);
  },
};

export const honoGate: Host = {
  name: 'Hono as a gate',
  capabilities: {
    ...ADAPTER,
    gate: true,
    surroundings: [...SURROUNDINGS, 'no gate', ...ON_NODE],
  },
  listen(setup) {
    const { options, handler, surroundings } = setup;
    const { secret, bodyLimit, bodyTimeout, observe, headers } = options;
    const gate = honoWebhook({ secret, bodyLimit, bodyTimeout, observe, headers });
    const route: MiddlewareHandler = async (c) => {
      await handler(webhookEvent(c), {});
      return c.json({ received: true });
    };
    return listen(setup, surroundings === 'no gate' ? [route] : [gate, route]);
  },
};

function listen(setup: Setup, webhook: readonly MiddlewareHandler[]): Promise<Listening> {
  const { surroundings, onError, http2: overHttp2 = false } = setup;
  const app = new Hono();
  if (surroundings !== 'no error handler') {
    app.onError((error) => {
      onError(error);
      return new Response(FAILURE, {
        status: 500,
        headers: { 'content-type': 'application/json' },
      });
    });
  }
  const around = surround(surroundings);
  if (around !== undefined) app.use(around);

  const [, prefix = '', rest = ''] = /^(\/[^/]*)(.*)$/.exec(PATH)!;
  switch (surroundings) {
    case 'no error handler': {
      const reporting: MiddlewareHandler = async (c, next) => {
        try {
          return await webhook.at(-1)!(c, next);
        } catch (error) {
          onError(error);
          throw error;
        }
      };
      app.on('POST', [PATH], ...[...webhook.slice(0, -1), reporting]);
      break;
    }
    case 'the webhook twice':
      app.on('POST', [PATH], webhook[0]!, ...webhook);
      break;
    case 'another webhook at once':
      app.post(
        PATH,
        async (c, next) => (await Promise.all([webhook[0]!(c, next), webhook[0]!(c, next)]))[0],
      );
      break;
    case 'a mounted router':
    case 'a JSON parser on the parent':
      app.route(prefix, new Hono().on('POST', [rest], ...webhook));
      break;
    case 'every method':
      app.on('ALL', [PATH], ...webhook);
      break;
    default:
      app.on('POST', [PATH], ...webhook);
  }
  const { fetch } = app;
  return listening(
    overHttp2
      ? createAdaptorServer({ fetch, createServer: http2.createServer })
      : createAdaptorServer({ fetch }),
  );
}

function surround(surroundings: Surroundings | undefined): MiddlewareHandler | undefined {
  switch (surroundings) {
    case 'a JSON parser':
    case 'a JSON parser on the parent':
      return async ({ req }, next) => {
        if (req.header('content-type') === 'application/json')
          await req.json().catch(() => undefined);
        await next();
      };
    case 'a text parser':
      return async ({ req }, next) => {
        await req.text();
        await next();
      };
    case 'a naive reader':
      return async ({ req }, next) => {
        await req.raw.arrayBuffer();
        await next();
      };
    case 'a clone':
      return async ({ req }, next) => {
        await req.raw.clone().text();
        await next();
      };
    case 'a body limit':
      return bodyLimit({ maxSize: 100_000 });
    case 'a listener for data':
      return async ({ env }, next) => {
        (env as HttpBindings).incoming.on('data', () => undefined);
        await next();
      };
    case 'a listener for data, a tick earlier':
      return async ({ env }, next) => {
        (env as HttpBindings).incoming.on('data', () => undefined);
        await new Promise((resolve) => setImmediate(resolve));
        await next();
      };
    case 'an inflater':
      return async ({ env }, next) => {
        delete (env as HttpBindings).incoming.headers['content-encoding'];
        await next();
      };
    case 'something slow':
      return async (_context, next) => {
        await new Promise((resolve) => setTimeout(resolve, SLOW));
        await next();
      };
    default:
      return undefined;
  }
}
