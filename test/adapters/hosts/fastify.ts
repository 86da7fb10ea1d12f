/** The hosts of Fastify 4 and 5. */
import { createGunzip } from 'node:zlib';
import { paymentWebhook } from '@paylink/fastify';
import fastify, { type FastifyInstance } from 'fastify';
import fastify4Create from 'fastify4';
import { PATH } from '../deliveries.js';
import { aroundNode, listening, splitPath, USUAL } from './host.js';
import type { AroundNode, Host, Listening, Setup, Surroundings } from './host.js';

type Create = (options: { readonly http2?: true }) => unknown;

const ignore = (): undefined => undefined;

const AROUND: Partial<Record<Surroundings, AroundNode>> = {
  // Without a `data` listener, which the adapter would notice.
  'a naive reader': (req, go) => req.resume().on('end', go),
  // Two turns, in which the event loop reads the body.
  'a listener for data'(req, go) {
    req.on('data', ignore);
    setImmediate(() => setImmediate(go));
  },
  'a text decoder': aroundNode['a text decoder']!,
  'something slow': aroundNode['something slow']!,
};

function hostOf(name: string, create: Create): Host {
  return {
    name,
    capabilities: {
      ...USUAL,
      context: ['request'],
      http2: true,
      parserErrors: 'Fastify',
      // Only POST: the plugin adds one route, and Fastify's router answers other methods with its
      // 404.
      surroundings: [...(Object.keys(AROUND) as Surroundings[]), 'a mounted router', 'an inflater'],
      hint: /A preParsing or onRequest hook that reads request\.raw must keep request\.rawBody/,
    },
    listen: (setup) => listen(create, setup),
  };
}

async function listen(create: Create, setup: Setup): Promise<Listening> {
  const { options, surroundings, handler, onHostError, http2 = false } = setup;
  // The tests use only what the versions and servers share.
  const app = create(http2 ? { http2 } : {}) as FastifyInstance;
  app.setErrorHandler((error, request, reply) => {
    // Fastify itself refuses some bodies of requests that have no route.
    if (!request.is404) onHostError(error);
    void reply.code(request.is404 ? 404 : 200).send({ ok: true });
  });
  const around = surroundings && AROUND[surroundings];
  app.addHook('onRequest', ({ raw }, _reply, done) => {
    if (around) around(raw, done);
    else done();
  });
  if (surroundings === 'an inflater') {
    app.addHook('preParsing', (request, _reply, payload, done) => {
      if (request.headers['content-encoding'] !== 'gzip') return done(null, payload);
      delete request.headers['content-encoding'];
      delete request.headers['content-length'];
      done(null, payload.pipe(createGunzip()));
    });
  }
  const [prefix, url] = surroundings === 'a mounted router' ? splitPath(PATH) : ['', PATH];
  await app.register(paymentWebhook({ ...options, url }, handler), { prefix });
  await app.ready();
  // Fastify's own close also ends idle connections.
  return { ...(await listening(app.server)), close: () => app.close() };
}

export const fastify5 = hostOf('Fastify 5', fastify as Create);
export const fastify4 = hostOf('Fastify 4', fastify4Create as unknown as Create);
