/** Hono on its Node server, with the Hono adapter and with the Fetch adapter. */
import http2 from 'node:http2';
import { createAdaptorServer, type HttpBindings } from '@hono/node-server';
import { paymentWebhook as fetchWebhook } from '@paylink/fetch';
import { paymentGate, paymentWebhook, webhookEvent } from '@paylink/hono';
import { paymentWebhook as nextWebhook } from '@paylink/next';
import { Hono, type Context, type MiddlewareHandler } from 'hono';
import { bodyLimit } from 'hono/body-limit';
import { PATH } from '../deliveries.js';
import { gateOptionsOf, listening, SLOW, splitPath, USUAL } from './host.js';
import type { Capabilities, Host, Listening, Setup, Surroundings } from './host.js';

type Around = (c: Context) => unknown;

const COMMON: Omit<Capabilities, 'gate' | 'surroundings' | 'context' | 'hint'> = {
  ...USUAL,
  fetch: true,
  closes: false,
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
];

const ON_NODE: readonly Surroundings[] = [
  'a clone',
  'a body limit',
  'an inflater',
  'a listener for data',
  'a listener for data, a tick earlier',
];

/** The Fetch adapters, as on any Fetch host. */
function fetchHost(
  name: string,
  create: (setup: Setup) => (request: Request) => Promise<Response>,
): Host {
  return {
    name,
    capabilities: {
      ...COMMON,
      gate: false,
      surroundings: [...SURROUNDINGS, 'another webhook at once'],
      context: ['request'],
      hint: /Pass the request itself to the webhook, before request\.json\(\)/,
    },
    listen(setup) {
      const webhook = create(setup);
      return listen(setup, [({ req }) => webhook(req.raw)]);
    },
  };
}
export const fetchOnHono = fetchHost('Fetch on Hono', ({ options, handler }) =>
  fetchWebhook(options, handler),
);
export const nextApp = fetchHost('Next.js, App Router', ({ options, handler }) =>
  nextWebhook(options, handler),
);

const ADAPTER: Omit<Capabilities, 'gate' | 'surroundings'> = {
  ...COMMON,
  closes: 'a 401',
  context: ['env', 'executionCtx', 'req', 'var'],
  hint: /Put the webhook above middleware that reads the body/,
};

export const hono: Host = {
  name: 'Hono',
  capabilities: {
    ...ADAPTER,
    gate: false,
    surroundings: [...SURROUNDINGS, 'another webhook at once', ...ON_NODE],
  },
  listen: (setup) =>
    listen(setup, [paymentWebhook(setup.options, setup.handler) as MiddlewareHandler]),
};

export const honoGate: Host = {
  name: 'Hono as a gate',
  capabilities: {
    ...ADAPTER,
    gate: true,
    surroundings: [...SURROUNDINGS, 'no gate', ...ON_NODE],
  },
  listen(setup) {
    const gate = paymentGate(gateOptionsOf(setup));
    const route: MiddlewareHandler = async (c) => {
      await setup.handler(webhookEvent(c), {});
      return c.json({ received: true });
    };
    return listen(setup, setup.surroundings === 'no gate' ? [route] : [gate, route], 500);
  },
};

function listen(
  { surroundings, onHostError, http2: overHttp2 = false }: Setup,
  webhook: readonly MiddlewareHandler[],
  status = 200,
): Promise<Listening> {
  const app = new Hono();
  app.onError((error) => {
    onHostError(error);
    return new Response('{"ok":true}', { status });
  });
  const around = surround(surroundings);
  if (around !== undefined) app.use(around);

  const [prefix, rest] = splitPath(PATH);
  switch (surroundings) {
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

const parseJson: Around = ({ req }) =>
  req.header('content-type') === 'application/json' && req.json().catch(() => undefined);

const incomingOf = ({ env }: Context) => (env as HttpBindings).incoming;

const AROUND: Partial<Record<Surroundings, Around>> = {
  'a JSON parser': parseJson,
  'a JSON parser on the parent': parseJson,
  'a text parser': ({ req }) => req.text(),
  'a naive reader': ({ req }) => req.raw.arrayBuffer(),
  'a clone': ({ req }) => req.raw.clone().text(),
  'a listener for data': (c) => void incomingOf(c).on('data', () => undefined),
  'a listener for data, a tick earlier'(c) {
    incomingOf(c).on('data', () => undefined);
    return new Promise((resolve) => setImmediate(resolve));
  },
  'an inflater': (c) => delete incomingOf(c).headers['content-encoding'],
  'something slow': () => new Promise((resolve) => setTimeout(resolve, SLOW)),
};

function surround(surroundings: Surroundings | undefined): MiddlewareHandler | undefined {
  if (surroundings === 'a body limit') return bodyLimit({ maxSize: 100_000 });
  const around = surroundings && AROUND[surroundings];
  if (around === undefined) return undefined;
  return async (c, next) => {
    const reading = around(c);
    // A turn here would let the body flow to a listener before the webhook runs.
    if (reading instanceof Promise) await reading;
    await next();
  };
}
