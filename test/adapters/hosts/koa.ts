/** The hosts of Koa 2 and 3, which do not differ in these tests. */
import { createRequire } from 'node:module';
import { bodyParser } from '@koa/bodyparser';
import Router from '@koa/router';
import { paymentGate, paymentWebhook, webhookEvent } from '@paylink/koa';
import Koa, { type Middleware } from 'koa';
import { PATH } from '../deliveries.js';
import { AROUND_NODE, aroundNode, gateOptionsOf } from './host.js';
import { listening, serverFor, splitPath, USUAL } from './host.js';
import type { Capabilities, Host, Listening, Setup, Surroundings } from './host.js';

const COMMON: Omit<Capabilities, 'gate' | 'surroundings'> = {
  ...USUAL,
  context: ['params', 'req', 'state'],
  http2: true,
  hint: /Put the webhook above the parser.*app\.use\(bodyParser\(\)\)/,
};

const json = bodyParser({ enableTypes: ['json'] });

const AROUND: Partial<Record<Surroundings, Middleware | undefined>> = {
  'a JSON parser': json,
  'a JSON parser on the parent': json,
  // @koa/bodyparser's ctx.request.rawBody is a string.
  'a JSON parser that keeps a string': json,
  'a text parser': bodyParser({
    enableTypes: ['text'],
    extendTypes: { text: ['application/json'] },
  }),
  'a form parser': bodyParser({ enableTypes: ['form'] }),
  'the webhook twice': undefined,
  'a mounted router': undefined,
  'every method': undefined,
};
const SURROUNDINGS = [...(Object.keys(AROUND) as Surroundings[]), ...AROUND_NODE];

/** Returns the hosts of one version: with handlers, and as a gate. */
function hostsOf(name: string, create: typeof Koa): readonly [Host, Host] {
  const surroundings = [...SURROUNDINGS, 'another webhook at once'] as const;
  const host: Host = {
    name,
    capabilities: { ...COMMON, gate: false, surroundings },
    listen: (setup) => listen(new create(), setup, [paymentWebhook(setup.options, setup.handler)]),
  };
  const gate: Host = {
    name: `${name} as a gate`,
    capabilities: { ...COMMON, gate: true, surroundings: [...SURROUNDINGS, 'no gate'] },
    listen: (setup) => listen(new create(), setup, gated(setup), 500),
  };
  return [host, gate];
}

function gated(setup: Setup): Middleware[] {
  const route: Middleware = async (ctx) => {
    await setup.handler(webhookEvent(ctx), {});
    ctx.body = { received: true };
  };
  return setup.surroundings === 'no gate' ? [route] : [paymentGate(gateOptionsOf(setup)), route];
}

function listen(
  app: Koa,
  setup: Setup,
  webhook: readonly Middleware[],
  status = 200,
): Promise<Listening> {
  const { surroundings, onHostError } = setup;
  app.use(async (ctx, next) => {
    try {
      await next();
    } catch (error) {
      onHostError(error);
      ctx.status = status;
      ctx.body = { ok: true };
    }
  });
  const onNode = surroundings && aroundNode[surroundings];
  const around: Middleware | undefined = onNode
    ? (ctx, next) => new Promise((done) => onNode(ctx.req, () => done(next())))
    : surroundings && AROUND[surroundings];
  if (around !== undefined) app.use(around);
  app.use(routerFor(surroundings, webhook).routes());
  return listening(serverFor(setup, (req, res) => void app.callback()(req, res)));
}

function routerFor(surroundings: Surroundings | undefined, webhook: readonly Middleware[]): Router {
  const router = new Router();
  const [prefix, rest] = splitPath(PATH);
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

export const [koa3, koa3Gate] = hostsOf('Koa 3', Koa);
// Required, because the alias has no types. The tests use only what both versions share.
export const [koa2, koa2Gate] = hostsOf(
  'Koa 2',
  createRequire(import.meta.url)('koa2') as typeof Koa,
);
