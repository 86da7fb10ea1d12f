/**
 * Rehearses a release: publishes every package to a registry on loopback, and follows the Express
 * quick start from an empty folder with that registry.
 *
 *     pnpm lab release
 */
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { startPage } from '../../docs/.vitepress/start-pages.js';
import { startReader, stepsOf } from '../../test/docs/quick-start.js';
import { packAll } from '../../test/packaging/pack.js';
import { startRegistry } from './registry.js';

const usual = execFileSync('npm', ['config', 'get', 'registry'], { encoding: 'utf8' }).trim();
const registry = await startRegistry(usual);
const reader = await startReader({ npmrc: registry.npmrc });
try {
  const tarballs = Object.values(packAll(join(registry.folder, 'tarballs')));
  // Provenance needs the workflow's identity. Without `--registry`, pnpm's environment would name
  // the public registry.
  const flags = ['--provenance=false', '--registry', registry.url, '--userconfig', registry.npmrc];
  for (const tarball of tarballs)
    execFileSync('npm', ['publish', tarball, ...flags], { stdio: ['ignore', 'ignore', 'inherit'] });
  console.log(`${tarballs.length} packages published`);
  for (const step of stepsOf(await startPage('en', 'express'))) await reader.do(step);
  console.log('the quick start of Express passed');
} finally {
  await reader.close();
  await registry.close();
}
