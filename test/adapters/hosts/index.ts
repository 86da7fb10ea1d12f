import { express4, express4Gate } from './express4.js';
import { express5, express5Gate } from './express5.js';
import { fastify4 } from './fastify4.js';
import { fastify5 } from './fastify5.js';
import { fetchOnHono, hono, honoGate } from './hono.js';
import type { Host } from './host.js';
import { koa2, koa2Gate } from './koa2.js';
import { koa3, koa3Gate } from './koa3.js';
import { nodeHttp } from './node.js';

// `pnpm lab mutants` selects the hosts on the mutated code.
const only = process.env['PAYLINK_HOSTS']?.split(',');
const isAsked = ({ name }: Host): boolean => only?.includes(name) ?? true;

const all: readonly Host[] = [
  nodeHttp,
  ...[express5, express5Gate, express4, express4Gate],
  ...[fastify5, fastify4],
  ...[koa3, koa3Gate, koa2, koa2Gate],
  ...[hono, honoGate, fetchOnHono],
];

export const hosts = all.filter(isAsked);
/** Hosts with Paylink's own handlers. */
export const handlerHosts = hosts.filter(({ capabilities }) => !capabilities.gate);
/** One version each, for slow rows in which versions do not matter. */
export const oneOfEach: readonly Host[] = [
  nodeHttp,
  express5,
  fastify5,
  koa3,
  hono,
  fetchOnHono,
].filter(isAsked);
/** The hosts with their own way to read bodies. Express and Koa read like node:http. */
export const readers: readonly Host[] = [nodeHttp, fastify5, fetchOnHono].filter(isAsked);
export const gateHosts = hosts.filter(({ capabilities }) => capabilities.gate);
