import { existsSync, readFileSync, realpathSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { packageFolders, PACKAGES } from './package-folders.js';

interface Manifest {
  readonly name: string;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly scripts?: Readonly<Record<string, string>>;
}

/**
 * A user's transitive third-party packages, by Paylink package. Adding one is a decision, recorded
 * here.
 */
const RAW_BODY = [
  'bytes',
  'depd',
  'http-errors',
  'iconv-lite',
  'inherits',
  'raw-body',
  'safer-buffer',
  'setprototypeof',
  'statuses',
  'toidentifier',
  'unpipe',
];
const THEIRS: Readonly<Record<string, readonly string[]>> = {
  ...Object.fromEntries(
    ['node', 'express', 'fastify', 'koa', 'hono', 'next', 'nest'].map((name) => [name, RAW_BODY]),
  ),
  cli: [
    '@bomb.sh/tab',
    '@hono/node-server',
    'ansi-regex',
    'commander',
    'fastest-levenshtein',
    'get-east-asian-width',
    'hono',
    'package-manager-detector',
    'string-width',
    'strip-ansi',
  ],
  emulator: ['@hono/node-server', 'hono'],
};

const readManifest = (folder: string): Manifest =>
  JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Manifest;

/** Returns Node's location of a package that `folder` imports. */
function locate(name: string, folder: string): string {
  for (let at = folder; at !== dirname(at); at = dirname(at)) {
    const found = join(at, 'node_modules', name);
    if (existsSync(found)) return realpathSync(found);
  }
  throw new Error(`${name} is not installed for ${folder}`);
}

function dependenciesOf(
  folder: string,
  found = new Map<string, Manifest>(),
): Map<string, Manifest> {
  for (const name of Object.keys(readManifest(folder).dependencies ?? {})) {
    const dependency = locate(name, folder);
    if (found.has(name)) continue;
    found.set(name, readManifest(dependency));
    dependenciesOf(dependency, found);
  }
  return found;
}

describe.each(packageFolders)('packages/%s', (name) => {
  const dependencies = dependenciesOf(join(PACKAGES, name));

  it('has only the dependencies that this test lists', { tags: ['K03', 'K02'] }, () => {
    expect(
      [...dependencies.keys()].filter((dependency) => !dependency.startsWith('@paylink/')).sort(),
    ).toEqual(THEIRS[name] ?? []);
  });

  it('has no install script, and neither have its dependencies', { tags: 'K03' }, () => {
    const manifests = [readManifest(join(PACKAGES, name)), ...dependencies.values()];
    const scripted = manifests.filter(({ scripts = {} }) =>
      ['preinstall', 'install', 'postinstall'].some((script) => script in scripts),
    );
    expect(scripted.map((manifest) => manifest.name)).toEqual([]);
  });
});
