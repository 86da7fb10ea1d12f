import { createRequire } from 'node:module';
import type express from 'express';
import { expressHosts } from './express.js';

// Required, because the alias has no types. The tests use only what both versions share.
export const [express4, express4Gate] = expressHosts(
  'Express 4',
  createRequire(import.meta.url)('express4') as typeof express,
);
