/** The hosts of Koa 2 and 3, which do not differ in these tests. */
import { once } from 'node:events';
import { bodyParser } from '@koa/bodyparser';
import Router from '@koa/router';
import { paymentWebhook, webhookEvent } from '@paylink/koa';
import type Koa from 'koa';
import type { Context, Middleware } from 'koa';
import { PATH } from '../deliveries.js';
import { inflated, listening, serverFor, SLOW } from './host.js';
import type { Capabilities, Host, Listening, Setup, Surroundings } from './host.js';

const FAILURE = '{"error":"the error handler of the app"}';

const COMMON: Omit<Capabilities, 'gate' | 'surroundings'> = {
  routes: true,
  failure: FAILURE,
  banners: [],
  context: ['params', 'req', 'signal', 'state'],
  fetch: false,
  closes: true,
  parserErrors: 'Node',
  http2: true,
  hint: /Put the webhook above the parser.*app\.use\(bodyParser\(\)\)/,
};

const SURROUNDINGS: readonly Surroundings[] = [
  'a JSON parser',
  'a JSON parser on the parent',
  // @koa/bodyparser's ctx.request.rawBody is a string.
  'a JSON parser that keeps a string',
  'a text parser',
  'a form parser',
  'a naive reader',
  'a listener for data',
  'a listener for data, a tick earlier',
  'a text decoder',
  'something slow',
  'the webhook twice',
  'a mounted router',
  'every method',
  'no error handler',
  'an inflater',
];

/** Returns the hosts of one version: with handlers, and as a gate. */
export function koaHosts(name: string, create: typeof Koa): readonly [Host, Host] {
  const host: Host = {
    name,
    capabilities: {
      ...COMMON,
      gate: false,
      surroundings: [...SURROUNDINGS, 'another webhook at once'],
    },
    listen: (setup) => listen(new create(), setup, [handling(setup)]),
  };
  const gate: Host = {
    name: `${name} as a gate`,
    capabilities: { ...COMMON, gate: true, surroundings: [...SURROUNDINGS, 'no gate'] },
    listen: (setup) => listen(new create(), setup, gated(setup)),
  };
  return [host, gate];
}

function handling({ options, handler }: Setup): Middleware {
  return paymentWebhook(options, handler);
}

function gated({ options, handler, surroundings }: Setup): Middleware[] {
  const { secret, bodyLimit, bodyTimeout, observe, headers } = options;
  const gate = paymentWebhook({ secret, bodyLimit, bodyTimeout, observe, headers });
  const route: Middleware = async (ctx) => {
    await handler(webhookEvent(ctx), {});
    ctx.body = { received: true };
  };
  return surroundings === 'no gate' ? [route] : [gate, route];
}

function listen(app: Koa, setup: Setup, webhook: readonly Middleware[]): Promise<Listening> {
  const { surroundings, onError } = setup;
  app.use(async (ctx, next) => {
    try {
      await next();
    } catch (error) {
      onError(error);
      if (surroundings === 'no error handler') throw error;
      ctx.status = 500;
      ctx.type = 'application/json';
      ctx.body = FAILURE;
    }
  });
  const around = surround(surroundings);
  if (around !== undefined) app.use(around);
  app.use(routerFor(surroundings, webhook).routes());
  return listening(serverFor(setup, (req, res) => void app.callback()(req, res)));
}

function surround(surroundings: Surroundings | undefined): Middleware | undefined {
  const first =
    (look: (ctx: Context) => unknown): Middleware =>
    async (ctx, next) => {
      await look(ctx);
      await next();
    };
  switch (surroundings) {
    case 'a JSON parser':
    case 'a JSON parser on the parent':
    case 'a JSON parser that keeps a string':
      return bodyParser({ enableTypes: ['json'] });
    case 'a text parser':
      return bodyParser({ enableTypes: ['text'], extendTypes: { text: ['application/json'] } });
    case 'a form parser':
      return bodyParser({ enableTypes: ['form'] });
    case 'a naive reader':
      return first(({ req }) =>
        once(
          req.on('data', () => undefined),
          'end',
        ),
      );
    case 'a listener for data':
      return (ctx, next) => {
        ctx.req.on('data', () => undefined);
        return next();
      };
    case 'a listener for data, a tick earlier':
      return first(({ req }) => {
        req.on('data', () => undefined);
        return new Promise((resolve) => setImmediate(resolve));
      });
    case 'a text decoder':
      return first(({ req }) => req.setEncoding('utf8'));
    case 'an inflater':
      return first(
        ({ req }) =>
          new Promise<void>((resolve) => {
            inflated(req, resolve);
          }),
      );
    case 'something slow':
      return first(() => new Promise((resolve) => setTimeout(resolve, SLOW)));
    default:
      return undefined;
  }
}

function routerFor(surroundings: Surroundings | undefined, webhook: readonly Middleware[]): Router {
  const router = new Router();
  const [, prefix = '', rest = ''] = /^(\/[^/]*)(.*)$/.exec(PATH)!;
  switch (surroundings) {
    case 'the webhook twice':
      return router.post(PATH, webhook[0]!, ...webhook);
    case 'another webhook at once':
      return router.post(PATH, (ctx, next) =>
        Promise.all([webhook[0]!(ctx, next), webhook[0]!(ctx, next)]),
      );
    case 'a mounted router':
    case 'a JSON parser on the parent':
      return router.use(prefix, new Router().post(rest, ...webhook).routes());
    case 'every method':
      return router.all(PATH, ...webhook);
    default:
      return router.post(PATH, ...webhook);
  }
}
