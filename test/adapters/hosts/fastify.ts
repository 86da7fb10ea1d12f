/** Fastify 4 and 5 differ in the name under which they take a logger, so each is a line on this. */
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

/** Makes an application on which nothing is registered yet. */
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
      // Not every method: the plugin makes one route, for POST, and Fastify's router answers the
      // others with its 404.
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
      hint: /No preParsing or onRequest hook may read request\.raw/,
    },
    listen: (setup) => listen(create, setup),
  };
}

async function listen(create: CreateFastify, setup: Setup): Promise<Listening> {
  const { options, surroundings, handler, onError, http2 = false } = setup;
  const app = create(loggerFor(onError), http2);
  // Without one Fastify logs the error, which comes to the same.
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
  // Its close also ends connections that are idle, as an application that uses Fastify would have
  // it.
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

/** What is logged goes to the console. An error that comes after the reply is only logged. */
function loggerFor(onError: (error: unknown) => void): FastifyBaseLogger {
  const write = (...values: unknown[]): void => console.error(format(...values));
  const warn = (...values: unknown[]): void => console.warn(format(...values));
  const ignore = (): void => undefined;
  const logger = {
    level: 'info',
    // At the level info Fastify logs each request whole, with its secrets.
    ...{ fatal: write, warn, info: ignore, debug: ignore, trace: ignore, silent: ignore },
    error: (first: string | { readonly err?: unknown }, ...more: unknown[]) => {
      if (typeof first === 'object' && 'err' in first) onError(first.err);
      write(first, ...more);
    },
    child: () => logger,
  };
  return logger as FastifyBaseLogger;
}
