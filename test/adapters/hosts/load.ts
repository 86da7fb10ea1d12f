/** Loads single hosts: all frameworks together take seconds to load. */
import type { Host } from './host.js';

type Load = () => Promise<Readonly<Record<string, Host>>>;

const express: Load = () => import('./express.js');
const fastify: Load = () => import('./fastify.js');
const koa: Load = () => import('./koa.js');
const hono: Load = () => import('./hono.js');
const nest: Load = () => import('./nest.js');

const FILES = {
  'node:http': () => import('./node.js'),
  'Express 5': express,
  'Express 4': express,
  'Express 5 as a gate': express,
  'Express 4 as a gate': express,
  'Fastify 5': fastify,
  'Fastify 4': fastify,
  'Koa 3': koa,
  'Koa 2': koa,
  'Koa 3 as a gate': koa,
  'Koa 2 as a gate': koa,
  Hono: hono,
  'Hono as a gate': hono,
  'Fetch on Hono': hono,
  'Next.js, App Router': hono,
  'Next.js, Pages Router': () => import('./next.js'),
  'NestJS on Express': nest,
  'NestJS on Fastify': nest,
  'AWS Lambda': () => import('./lambda.js'),
} satisfies Readonly<Record<string, Load>>;

export type HostName = keyof typeof FILES;

export async function loadHost(name: HostName): Promise<Host> {
  const hosts = Object.values<Host>(await FILES[name]());
  return hosts.find((host) => host.name === name)!;
}
