/** The hosts of Express 4 and 5, which do not differ in these tests. */
import http, { type IncomingMessage } from 'node:http';
import { paymentWebhook, webhookEvent, type ExpressMiddleware } from '@paylink/express';
import type express from 'express';
import type { Express, NextFunction, Request, Response } from 'express';
import { PATH } from '../deliveries.js';
import {
  inflated,
  listening,
  SLOW,
  type Capabilities,
  type Host,
  type Setup,
  type Surroundings,
} from './host.js';

type Middleware = ExpressMiddleware | ((req: Request, res: Response, next: NextFunction) => void);

const FAILURE = '{"error":"the error handler of the app"}';

const COMMON: Omit<Capabilities, 'gate' | 'surroundings'> = {
  routes: true,
  failure: FAILURE,
  banners: ['x-powered-by'],
  context: ['req', 'signal'],
  fetch: false,
  closes: true,
  parserErrors: 'Node',
  // Express needs http.IncomingMessage.
  http2: false,
  hint: /Register the webhook above the parser.*express\.json\(\{ verify/,
};

const SURROUNDINGS: readonly Surroundings[] = [
  'a JSON parser',
  'a JSON parser on the parent',
  'a JSON parser that keeps a Buffer',
  'a JSON parser that keeps a string',
  'a text parser',
  'a raw parser',
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
export function expressHosts(name: string, create: typeof express): readonly [Host, Host] {
  const host: Host = {
    name,
    capabilities: { ...COMMON, gate: false, surroundings: SURROUNDINGS },
    listen: (setup) => listen(create, setup, [handling(setup)]),
  };
  const gate: Host = {
    name: `${name} as a gate`,
    capabilities: { ...COMMON, gate: true, surroundings: [...SURROUNDINGS, 'no gate'] },
    listen: (setup) => listen(create, setup, gated(setup)),
  };
  return [host, gate];
}

function handling({ options, handler }: Setup): Middleware {
  return paymentWebhook(options, handler);
}

function gated({ options, handler, surroundings }: Setup): Middleware[] {
  const { secret, bodyLimit, bodyTimeout, observe, headers } = options;
  const gate = paymentWebhook({ secret, bodyLimit, bodyTimeout, observe, headers });
  const route = (req: Request, res: Response, next: NextFunction): void => {
    // The form for merchants who also serve Express 4, which does not await a route's promise.
    const answer = async (): Promise<void> => {
      await handler(webhookEvent(req), {});
      res.status(200).type('application/json').send('{"received":true}');
    };
    answer().catch(next);
  };
  return surroundings === 'no gate' ? [route] : [gate, route];
}

function listen(
  create: typeof express,
  { surroundings, onError }: Setup,
  webhook: Middleware[],
): ReturnType<typeof listening> {
  const app = create();
  const keep = (convert: (bytes: Buffer) => unknown): Middleware =>
    create.json({
      verify: (req: IncomingMessage, _res, bytes) => {
        Object.assign(req, { rawBody: convert(bytes) });
      },
    });

  switch (surroundings) {
    case 'a JSON parser':
      app.use(create.json());
      break;
    case 'a JSON parser that keeps a Buffer':
      use(
        app,
        keep((bytes) => bytes),
      );
      break;
    case 'a JSON parser that keeps a string':
      use(
        app,
        keep((bytes) => bytes.toString('utf8')),
      );
      break;
    case 'a text parser':
      app.use(create.text({ type: () => true }));
      break;
    case 'a raw parser':
      app.use(create.raw({ type: () => true, limit: '10mb' }));
      break;
    case 'a form parser':
      app.use(create.urlencoded({ extended: false }));
      break;
    case 'a naive reader':
      app.use((req, _res, next) => {
        req.on('data', () => undefined).on('end', next);
      });
      break;
    case 'a listener for data':
      app.use((req, _res, next) => {
        req.on('data', () => undefined);
        next();
      });
      break;
    case 'a listener for data, a tick earlier':
      app.use((req, _res, next) => {
        req.on('data', () => undefined);
        setImmediate(next);
      });
      break;
    case 'a text decoder':
      app.use((req, _res, next) => {
        req.setEncoding('utf8');
        next();
      });
      break;
    case 'an inflater':
      app.use((req, _res, next) => {
        inflated(req, next);
      });
      break;
    case 'something slow':
      app.use((_req, _res, next) => {
        setTimeout(next, SLOW);
      });
      break;
    default:
  }

  const all = (
    surroundings === 'the webhook twice' ? [...webhook.slice(0, 1), ...webhook] : webhook
  ) as express.RequestHandler[];
  if (surroundings === 'a mounted router' || surroundings === 'a JSON parser on the parent') {
    const [, prefix = '', rest = ''] = /^(\/[^/]*)(.*)$/.exec(PATH)!;
    const child = surroundings === 'a mounted router' ? create.Router() : create();
    child.post(rest, ...all);
    if (surroundings === 'a JSON parser on the parent') app.use(create.json());
    app.use(prefix, child);
  } else if (surroundings === 'every method') {
    app.all(PATH, ...all);
  } else {
    app.post(PATH, ...all);
  }

  app.use((error: unknown, _req: Request, res: Response, next: NextFunction) => {
    onError(error);
    if (res.headersSent || surroundings === 'no error handler') next(error);
    else res.status(500).type('application/json').send(FAILURE);
  });
  return listening(http.createServer(app));
}

function use(app: Express, middleware: Middleware): void {
  app.use(middleware as express.RequestHandler);
}
