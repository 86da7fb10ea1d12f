import { createRequire } from 'node:module';
import type Koa from 'koa';
import { koaHosts } from './koa.js';

// Required, because the alias has no types of its own; what is used of it is the same in both.
export const [koa2, koa2Gate] = koaHosts(
  'Koa 2',
  createRequire(import.meta.url)('koa2') as typeof Koa,
);
