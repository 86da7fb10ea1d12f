import fastify, { type FastifyInstance } from 'fastify';
import { fastifyHost } from './fastify.js';

// With `http2`, the types name another server, which these tests do not use.
export const fastify5 = fastifyHost('Fastify 5', (loggerInstance, http2) =>
  http2
    ? (fastify({ loggerInstance, http2 }) as unknown as FastifyInstance)
    : fastify({ loggerInstance }),
);
