import { express4, express4Gate } from './express4.js';
import { express5, express5Gate } from './express5.js';
import { fastify4 } from './fastify4.js';
import { fastify5 } from './fastify5.js';
import { hono } from './hono.js';
import type { Host } from './host.js';
import { koa2, koa2Gate } from './koa2.js';
import { koa3, koa3Gate } from './koa3.js';
import { nodeHttp } from './node.js';

export const hosts: readonly Host[] = [
  nodeHttp,
  ...[express5, express5Gate, express4, express4Gate],
  ...[fastify5, fastify4],
  ...[koa3, koa3Gate, koa2, koa2Gate],
  hono,
];

/** Where the merchant's code is a handler of ours. */
export const handlerHosts = hosts.filter(({ capabilities }) => !capabilities.gate);
export const gateHosts = hosts.filter(({ capabilities }) => capabilities.gate);
