import { createRequire } from 'node:module';
import type Koa from 'koa';
import { koaHosts } from './koa.js';

// Required, because the alias has no types. The tests use only what both versions share.
export const [koa2, koa2Gate] = koaHosts(
  'Koa 2',
  createRequire(import.meta.url)('koa2') as typeof Koa,
);
