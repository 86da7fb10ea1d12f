#!/usr/bin/env node
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';

const manifest = createRequire(import.meta.url).resolve('@paylink/cli/package.json');
await import(pathToFileURL(join(dirname(manifest), 'dist', 'main.js')).href);
