import fastify, { type FastifyInstance } from 'fastify';
import { fastifyHost } from './fastify.js';

// With `http2` its types are of another server, of which nothing is used here.
export const fastify5 = fastifyHost('Fastify 5', (loggerInstance, http2) =>
  http2
    ? (fastify({ loggerInstance, http2 }) as unknown as FastifyInstance)
    : fastify({ loggerInstance }),
);
