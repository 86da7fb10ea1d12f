import fastify from 'fastify4';
import type { FastifyInstance } from 'fastify';
import { fastifyHost } from './fastify.js';

// The tests use only what both versions share.
export const fastify4 = fastifyHost(
  'Fastify 4',
  (logger, http2) =>
    (http2 ? fastify({ logger, http2 }) : fastify({ logger })) as unknown as FastifyInstance,
);
