import type { Host } from './host.js';
import { loadHost, type HostName } from './load.js';

// `PAYLINK_HOSTS=hono,koa 3` runs the suites on the hosts whose names begin with these words.
const only = process.env['PAYLINK_HOSTS']?.toLowerCase().split(',');
const isAsked = (name: string): boolean =>
  only?.some((words) => name.toLowerCase().startsWith(words)) ?? true;
const asked = (...names: readonly HostName[]): Promise<readonly Host[]> =>
  Promise.all(names.filter(isAsked).map(loadHost));

/** Hosts that give Paylink the request before its body, with Paylink's own handlers. */
export const handlerHosts = await asked(
  ...(['node:http', 'Express 5', 'Express 4', 'Fastify 5', 'Fastify 4', 'Koa 3', 'Koa 2'] as const),
  ...(['Hono', 'Fetch on Hono', 'Next.js, App Router', 'Next.js, Pages Router'] as const),
  ...(['NestJS on Express', 'NestJS on Fastify'] as const),
);
const leftOut =
  process.env['PAYLINK_OLDER_HOSTS'] === undefined ? ['Express 4', 'Fastify 4', 'Koa 2'] : [];
/**
 * The same, without older versions: the handlers' tests, the misuse and the generated requests run
 * on these too, and `pnpm lab full-size` everything.
 */
export const newestHosts = handlerHosts.filter(({ name }) => !leftOut.includes(name));
export const gateHosts = await asked(
  ...(['Express 5 as a gate', 'Express 4 as a gate'] as const),
  ...(['Koa 3 as a gate', 'Koa 2 as a gate', 'Hono as a gate'] as const),
);
/** Hosts for tests of the proof alone. Lambda calls a function with the whole body. */
export const hosts = [...newestHosts, ...(await asked('AWS Lambda'))];
/** One version each, for slow rows in which versions do not matter. */
export const oneOfEach = await asked(
  ...(['node:http', 'Express 5', 'Fastify 5', 'Koa 3', 'Hono', 'Fetch on Hono'] as const),
);
/** The hosts with their own way to read bodies. Express and Koa read like node:http. */
export const readers = await asked('node:http', 'Fastify 5', 'Fetch on Hono');
