import { appendFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
// @ts-expect-error It is plain JavaScript, since it runs before anything is installed.
import * as upToDate from '../../scripts/up-to-date.mjs';

interface Stamp {
  isCurrent(): boolean;
  remember(): void;
}

const { builds, installation } = upToDate as {
  builds(root: string): Map<string, Stamp>;
  installation(root: string): Stamp;
};

/** What is written where, in a workspace of two packages, of which `shop` is built on `core`. */
const FILES = {
  'package.json': '{}',
  'pnpm-lock.yaml': 'lockfileVersion: 9',
  'node_modules/.pnpm/lock.yaml': 'lockfileVersion: 9',
  'packages/core/package.json': '{ "name": "core" }',
  'packages/core/src/index.ts': 'export const one = 1;',
  'packages/core/dist/index.js': 'export const one = 1;',
  'packages/shop/package.json': '{ "name": "shop", "dependencies": { "core": "workspace:^" } }',
  'packages/shop/src/pages/index.ts': "export * from 'core';",
  'packages/shop/dist/index.js': "export * from 'core';",
  'packages/shop/node_modules/core/package.json': '{ "name": "core" }',
  'examples/one/package.json': '{ "name": "example-one" }',
  'test/package.json': '{ "name": "tests" }',
} as const;

let root: string;
const at = (path: keyof typeof FILES): string => join(root, path);

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'paylink-stamps-'));
  for (const [path, text] of Object.entries(FILES)) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  }
});

afterEach(() => {
  rmSync(root, { recursive: true });
});

describe('what is built', () => {
  const stale = (): string[] =>
    [...builds(root)].filter(([, built]) => !built.isCurrent()).map(([name]) => name);
  const buildAll = (): void => {
    for (const built of builds(root).values()) built.remember();
  };

  it('is stale until it is remembered, and current afterwards', () => {
    expect(stale()).toEqual(['core', 'shop']);
    buildAll();
    expect(stale()).toEqual([]);
  });

  it.each([
    ['packages/core/src/index.ts', ['core', 'shop']],
    ['packages/core/package.json', ['core', 'shop']],
    ['packages/core/dist/index.js', ['core']],
    ['packages/shop/src/pages/index.ts', ['shop']],
    ['packages/shop/dist/index.js', ['shop']],
    ['pnpm-lock.yaml', ['core', 'shop']],
  ] as const)('is stale when %s changes: %j', (path, names) => {
    buildAll();
    appendFileSync(at(path), '\n');
    expect(stale()).toEqual(names);
  });

  it('is stale when its dist is removed, and when a source is added', () => {
    buildAll();
    rmSync(dirname(at('packages/core/dist/index.js')), { recursive: true });
    writeFileSync(join(root, 'packages/shop/src/new.ts'), '');
    expect(stale()).toEqual(['core', 'shop']);
  });

  it('is stale when a source changed while it was built', () => {
    const begun = builds(root);
    appendFileSync(at('packages/core/src/index.ts'), '\n');
    for (const built of begun.values()) built.remember();
    expect(stale()).toEqual(['core', 'shop']);
  });
});

describe('what is installed', () => {
  it('is stale until it is remembered, and current afterwards', () => {
    expect(installation(root).isCurrent()).toBe(false);
    installation(root).remember();
    expect(installation(root).isCurrent()).toBe(true);
  });

  it.each([
    'pnpm-lock.yaml',
    'packages/core/package.json',
    'examples/one/package.json',
    'test/package.json',
  ] as const)('is stale when %s changes', (path) => {
    installation(root).remember();
    writeFileSync(
      at(path),
      path === 'pnpm-lock.yaml' ? 'lockfileVersion: 10' : '{ "version": "1.0.0" }',
    );
    expect(installation(root).isCurrent()).toBe(false);
  });

  it('is stale when another lockfile was installed by hand, and when a dependency is gone', () => {
    installation(root).remember();
    writeFileSync(at('node_modules/.pnpm/lock.yaml'), 'lockfileVersion: 10');
    expect(installation(root).isCurrent()).toBe(false);
    installation(root).remember();
    rmSync(join(root, 'packages/shop/node_modules'), { recursive: true });
    expect(installation(root).isCurrent()).toBe(false);
  });
});
