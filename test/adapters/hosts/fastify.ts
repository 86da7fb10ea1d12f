/** The hosts of Fastify 4 and 5, which differ in the name of their logger option. */
import { once } from 'node:events';
import { format } from 'node:util';
import { createGunzip } from 'node:zlib';
import { paymentWebhook } from '@paylink/fastify';
import type { FastifyBaseLogger, FastifyInstance, FastifyRequest } from 'fastify';
import { PATH } from '../deliveries.js';
import {
  listening,
  SLOW,
  type Host,
  type Listening,
  type Setup,
  type Surroundings,
} from './host.js';

/** Makes an application without registrations. */
export type CreateFastify = (logger: FastifyBaseLogger, http2: boolean) => FastifyInstance;

const FAILURE = '{"error":"the error handler of the app"}';

export function fastifyHost(name: string, create: CreateFastify): Host {
  return {
    name,
    capabilities: {
      gate: false,
      routes: true,
      failure: FAILURE,
      banners: [],
      context: ['request', 'signal'],
      fetch: false,
      closes: true,
      http2: true,
      parserErrors: 'Fastify',
      // Only POST: the plugin adds one route, and Fastify's router answers other methods with its
      // 404.
      surroundings: [
        'a naive reader',
        'a listener for data',
        'a listener for data, a tick earlier',
        'a text decoder',
        'something slow',
        'a mounted router',
        'no error handler',
        'an inflater',
      ],
      hint: /A preParsing or onRequest hook that reads request\.raw/,
    },
    listen: (setup) => listen(create, setup),
  };
}

async function listen(create: CreateFastify, setup: Setup): Promise<Listening> {
  const { options, surroundings, handler, onError, http2 = false } = setup;
  const app = create(loggerFor(onError), http2);
  // Without an error handler, Fastify logs the error.
  if (surroundings !== 'no error handler') {
    app.setErrorHandler((error, _request, reply) => {
      onError(error);
      void reply.code(500).type('application/json').send(FAILURE);
    });
  }
  if (surroundings === 'a listener for data') {
    app.addHook('onRequest', ({ raw }, _reply, next) => {
      raw.on('data', () => undefined);
      next();
    });
  } else {
    app.addHook('onRequest', (request) => surround(surroundings, request));
  }

  if (surroundings === 'an inflater') {
    app.addHook('preParsing', (request, _reply, payload, done) => {
      if (request.headers['content-encoding'] !== 'gzip') {
        done(null, payload);
        return;
      }
      delete request.headers['content-encoding'];
      delete request.headers['content-length'];
      done(null, payload.pipe(createGunzip()));
    });
  }

  const [, prefix = '', rest = ''] =
    surroundings === 'a mounted router' ? /^(\/[^/]*)(.*)$/.exec(PATH)! : ['', '', PATH];
  const webhook = paymentWebhook({ ...options, url: rest }, handler);
  await app.register(webhook, { prefix });
  await app.ready();
  // Fastify's own close also ends idle connections.
  return { ...(await listening(app.server)), close: () => app.close() };
}

async function surround(
  surroundings: Surroundings | undefined,
  { raw }: FastifyRequest,
): Promise<void> {
  switch (surroundings) {
    case 'a naive reader':
      raw.on('data', () => undefined);
      await once(raw, 'end');
      break;
    case 'a listener for data, a tick earlier':
      raw.on('data', () => undefined);
      await new Promise((resolve) => setImmediate(resolve));
      break;
    case 'a text decoder':
      raw.setEncoding('utf8');
      break;
    case 'something slow':
      await new Promise((resolve) => setTimeout(resolve, SLOW));
      break;
    default:
  }
}

/** Logs to the console. An error after the reply is only logged. */
function loggerFor(onError: (error: unknown) => void): FastifyBaseLogger {
  const write = (...values: unknown[]): void => console.error(format(...values));
  const warn = (...values: unknown[]): void => console.warn(format(...values));
  const ignore = (): void => undefined;
  const logger = {
    level: 'info',
    // At the level info, Fastify logs whole requests with their secrets.
    ...{ fatal: write, warn, info: ignore, debug: ignore, trace: ignore, silent: ignore },
    error: (first: string | { readonly err?: unknown }, ...more: unknown[]) => {
      if (typeof first === 'object' && 'err' in first) onError(first.err);
      write(first, ...more);
    },
    child: () => logger,
  };
  return logger as FastifyBaseLogger;
}
