import type { Host } from './host.js';

interface HostEntry {
  readonly title: string;
  load(): Promise<Host>;
}

/**
 * The measured hosts. Each process loads only its own host. To add a host, add a file and a line.
 */
export const HOSTS = {
  node: { title: 'node:http', load: async () => (await import('./node.js')).host },
  express: { title: 'Express 5', load: async () => (await import('./express.js')).host },
  fastify: { title: 'Fastify 5', load: async () => (await import('./fastify.js')).host },
  koa: { title: 'Koa 3', load: async () => (await import('./koa.js')).host },
  hono: { title: 'Hono on Node', load: async () => (await import('./hono.js')).host },
} satisfies Record<string, HostEntry>;

export type HostName = keyof typeof HOSTS;

export const HOST_NAMES = Object.keys(HOSTS) as HostName[];
