/** Loads one host, for a process of its own: all frameworks together take seconds to load. */
import type { Host } from './host.js';

const FILES: Readonly<Record<string, () => Promise<Readonly<Record<string, Host>>>>> = {
  'node:http': () => import('./node.js'),
  'Express 5': () => import('./express.js'),
  'Fastify 5': () => import('./fastify.js'),
  'Koa 3': () => import('./koa.js'),
  Hono: () => import('./hono.js'),
  'Fetch on Hono': () => import('./hono.js'),
};

export async function loadHost(name: string): Promise<Host> {
  const hosts = Object.values(await FILES[name]!());
  return hosts.find((host) => host.name === name)!;
}
