import { express4, express4Gate, express5, express5Gate } from './express.js';
import { fastify4, fastify5 } from './fastify.js';
import { fetchOnHono, hono, honoGate, nextApp } from './hono.js';
import type { Host } from './host.js';
import { koa2, koa2Gate, koa3, koa3Gate } from './koa.js';
import { lambda } from './lambda.js';
import { nestExpress, nestFastify } from './nest.js';
import { nextPages } from './next.js';
import { nodeHttp } from './node.js';

// `PAYLINK_HOSTS=hono,koa 3` runs the suites on the hosts whose names begin with these words.
const only = process.env['PAYLINK_HOSTS']?.toLowerCase().split(',');
const isAsked = ({ name }: Host): boolean =>
  only?.some((words) => name.toLowerCase().startsWith(words)) ?? true;
const asked = (...all: readonly Host[]): readonly Host[] => all.filter(isAsked);

/** Hosts that give Paylink the request before its body, with Paylink's own handlers. */
export const handlerHosts = asked(
  ...[nodeHttp, express5, express4, fastify5, fastify4, koa3, koa2],
  ...[hono, fetchOnHono, nextApp, nextPages, nestExpress, nestFastify],
);
const leftOut = process.env['PAYLINK_OLDER_HOSTS'] === undefined ? [express4, fastify4, koa2] : [];
/** The same, without older versions. `pnpm lab full-size` runs the older ones too. */
export const newestHosts = handlerHosts.filter((host) => !leftOut.includes(host));
export const gateHosts = asked(express5Gate, express4Gate, koa3Gate, koa2Gate, honoGate);
/** All hosts, for tests of the proof alone. Lambda calls a function with the whole body. */
export const hosts = [...handlerHosts, ...asked(lambda, express5Gate, koa3Gate, honoGate)];
/** One version each, for slow rows in which versions do not matter. */
export const oneOfEach = asked(nodeHttp, express5, fastify5, koa3, hono, fetchOnHono);
/** The hosts with their own way to read bodies. Express and Koa read like node:http. */
export const readers = asked(nodeHttp, fastify5, fetchOnHono);
