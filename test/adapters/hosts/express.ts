/** The hosts of Express 4 and 5, which do not differ in these tests. */
import http, { type IncomingMessage } from 'node:http';
import { createRequire } from 'node:module';
import { paymentGate, paymentWebhook, webhookEvent } from '@paylink/express';
import express, { type NextFunction, type Request, type Response } from 'express';
import { PATH } from '../deliveries.js';
import { AROUND_NODE, aroundNode, gateOptionsOf, listening, splitPath, USUAL } from './host.js';
import type { Capabilities, Host, Setup, Surroundings } from './host.js';

type Middleware = (req: Request, res: Response, next: NextFunction) => unknown;

const COMMON: Omit<Capabilities, 'gate' | 'surroundings'> = {
  ...USUAL,
  banners: ['x-powered-by'],
  context: ['req'],
  hint: /Register the webhook above the parser.*express\.json\(\{ verify/,
};

function around(create: typeof express): Partial<Record<Surroundings, Middleware | undefined>> {
  const keep = (convert: (bytes: Buffer) => unknown) =>
    create.json({
      verify: (req: IncomingMessage, _res, bytes) => {
        Object.assign(req, { rawBody: convert(bytes) });
      },
    });
  return {
    'a JSON parser': create.json(),
    'a JSON parser on the parent': create.json(),
    'a JSON parser that keeps a Buffer': keep((bytes) => bytes),
    'a JSON parser that keeps a string': keep((bytes) => bytes.toString('utf8')),
    'a text parser': create.text({ type: () => true }),
    'a raw parser': create.raw({ type: () => true, limit: '10mb' }),
    'a form parser': create.urlencoded({ extended: false }),
    'the webhook twice': undefined,
    'a mounted router': undefined,
    'every method': undefined,
  };
}

/** Returns the hosts of one version: with handlers, and as a gate. */
function hostsOf(name: string, create: typeof express): readonly [Host, Host] {
  const surroundings = [...(Object.keys(around(create)) as Surroundings[]), ...AROUND_NODE];
  const host: Host = {
    name,
    capabilities: { ...COMMON, gate: false, surroundings },
    listen: (setup) => listen(create, setup, [paymentWebhook(setup.options, setup.handler)]),
  };
  const gate: Host = {
    name: `${name} as a gate`,
    capabilities: { ...COMMON, gate: true, surroundings: [...surroundings, 'no gate'] },
    listen: (setup) => listen(create, setup, gated(setup), 500),
  };
  return [host, gate];
}

function gated(setup: Setup): Middleware[] {
  const route: Middleware = (req, res, next) => {
    // The form for merchants who also serve Express 4, which does not await a route's promise.
    const answer = async (): Promise<void> => {
      await setup.handler(webhookEvent(req), {});
      res.status(200).type('application/json').send('{"received":true}');
    };
    answer().catch(next);
  };
  return setup.surroundings === 'no gate' ? [route] : [paymentGate(gateOptionsOf(setup)), route];
}

function listen(
  create: typeof express,
  { surroundings, onHostError }: Setup,
  webhook: Middleware[],
  status = 200,
): ReturnType<typeof listening> {
  const app = create();
  const onNode = surroundings && aroundNode[surroundings];
  const middleware: Middleware | undefined = onNode
    ? (req, _res, next) => onNode(req, next)
    : surroundings && around(create)[surroundings];
  if (middleware !== undefined) app.use(middleware as express.RequestHandler);

  const twice = surroundings === 'the webhook twice' ? webhook.slice(0, 1) : [];
  const all = [...twice, ...webhook] as express.RequestHandler[];
  const [prefix, rest] = splitPath(PATH);
  if (surroundings === 'a mounted router') app.use(prefix, create.Router().post(rest, ...all));
  else if (surroundings === 'a JSON parser on the parent') {
    app.use(prefix, create().post(rest, ...all));
  } else if (surroundings === 'every method') app.all(PATH, ...all);
  else app.post(PATH, ...all);

  app.use((error: unknown, _req: Request, res: Response, next: NextFunction) => {
    onHostError(error);
    if (res.headersSent) next(error);
    else res.status(status).json({ ok: true });
  });
  return listening(http.createServer(app));
}

export const [express5, express5Gate] = hostsOf('Express 5', express);
// Required, because the alias has no types. The tests use only what both versions share.
export const [express4, express4Gate] = hostsOf(
  'Express 4',
  createRequire(import.meta.url)('express4') as typeof express,
);
