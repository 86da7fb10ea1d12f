/** The Fetch API, as Hono and its server for Node have it. */
import http2 from 'node:http2';
import { createAdaptorServer } from '@hono/node-server';
import { paymentWebhook } from '@paylink/fetch';
import { Hono, type MiddlewareHandler } from 'hono';
import { PATH } from '../deliveries.js';
import { listening, SLOW, type Host, type Listening, type MerchantContext, type Setup, type Surroundings } from './host.js';

const FAILURE = '{"error":"the error handler of the app"}';

export const hono: Host = {
  name: 'Fetch on Hono',
  capabilities: {
    gate: false,
    routes: true,
    failure: FAILURE,
    banners: [],
    responds: 'on return',
    fetch: true,
    parserErrors: 'Node',
    http2: true,
    surroundings: [
      'a JSON parser',
      'a JSON parser on the parent',
      'a text parser',
      'a naive reader',
      'something slow',
      'the webhook twice',
      'another webhook at once',
      'a mounted router',
      'every method',
      'no error handler',
    ],
    mend: /Give the webhook the request itself, before any request\.json\(\)/,
  },
  listen,
};

function listen({ options, surroundings, handler, onError, http2: overHttp2 = false }: Setup): Promise<Listening> {
  const webhook = paymentWebhook(options, (event, { signal }: { readonly signal: AbortSignal }) =>
    handler(event, { signal, ...RESPONDING }),
  );
  const app = new Hono();
  if (surroundings !== 'no error handler')
    app.onError((error) => {
      onError(error);
      return new Response(FAILURE, { status: 500, headers: { 'content-type': 'application/json' } });
    });
  const around = surround(surroundings);
  if (around !== undefined) app.use(around);

  const route: MiddlewareHandler = ({ req }) => webhook(req.raw);
  const [, prefix = '', rest = ''] = /^(\/[^/]*)(.*)$/.exec(PATH)!;
  switch (surroundings) {
    case 'no error handler':
      app.post(PATH, ({ req }) =>
        webhook(req.raw).catch((error: unknown) => {
          onError(error);
          throw error;
        }),
      );
      break;
    case 'the webhook twice':
      app.post(PATH, route, route);
      break;
    case 'another webhook at once':
      app.post(PATH, async ({ req }) => (await Promise.all([webhook(req.raw), webhook(req.raw)]))[0]);
      break;
    case 'a mounted router':
    case 'a JSON parser on the parent':
      app.route(prefix, new Hono().post(rest, route));
      break;
    case 'every method':
      app.all(PATH, route);
      break;
    default:
      app.post(PATH, route);
  }
  const { fetch } = app;
  return listening(overHttp2 ? createAdaptorServer({ fetch, createServer: http2.createServer }) : createAdaptorServer({ fetch }));
}

const RESPONDING: Omit<MerchantContext, 'signal'> = {
  // Always: what is returned waits for the store's commit.
  canRespond: true,
  respond: (status, headers = {}, body = '') => new Response(EMPTY.has(status) ? null : body, { status, headers }),
  // There is no way to begin a response without returning it.
  begin: () => undefined,
};

/** Statuses with which a Response takes no body. */
const EMPTY: ReadonlySet<number> = new Set([204, 304]);

function surround(surroundings: Surroundings | undefined): MiddlewareHandler | undefined {
  switch (surroundings) {
    case 'a JSON parser':
    case 'a JSON parser on the parent':
      return async ({ req }, next) => {
        if (req.header('content-type') === 'application/json') await req.json().catch(() => undefined);
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
    case 'something slow':
      return async (_context, next) => {
        await new Promise((resolve) => setTimeout(resolve, SLOW));
        await next();
      };
    default:
      return undefined;
  }
}
