import { execFileSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, it } from 'vitest';
import { installLines, publishedPackages } from './pack.js';
import { tarballs as packedTarballs } from './packed.js';
import { SOURCE } from '../../scripts/source.mjs';

interface Doors {
  readonly bin?: object;
  readonly exports: object;
  readonly imports?: object;
}

const packages = publishedPackages();
const folder = mkdtempSync(join(tmpdir(), 'paylink-tarballs-'));

afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
});

function contentsOf(tarball: string): string {
  return execFileSync('tar', ['-xzOf', tarball], { maxBuffer: 64 * 1024 * 1024 }).toString();
}

describe('the tarballs', () => {
  const tarballs = packedTarballs();

  it.each([...packages.keys()])('do not expose the sources of %s', (name) => {
    expect(contentsOf(tarballs[name]!)).not.toContain(SOURCE);
  });

  it.each([...packages])(
    'hold only the files that the manifest of %s names, and what these share',
    (name, folder) => {
      const {
        bin = {},
        exports,
        imports = {},
      } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Doors;
      const named = JSON.stringify([bin, exports, imports]).match(/\.\/dist\/[^"]+/g) ?? [];
      // An export that differs by runtime names its types once, and each file has its own types.
      const types =
        name === '@paylink/cli'
          ? []
          : named.map((file) => file.replace(/(?<!\.d)\.(c?)js$/, '.d.$1ts'));
      const packed = execFileSync('tar', ['-tzf', tarballs[name]!])
        .toString()
        .trim()
        .split('\n')
        .sort();
      const shared = packed.filter((file) =>
        /^package\/(dist\/([a-z-]+\.d-[\w-]{8}\.d\.c?ts|[a-z-]+-[A-Z0-9]{8}\.c?js|attacks\.json|schedules\/caller\.(?:d\.)?c?[jt]s|(?:recipes|templates)\/[\w/.-]+\.(?:[jt]sx?|sql))|judges\/judge\.\w+|skills\/paylink\/SKILL\.md)$/.test(
          file,
        ),
      );
      const alone = ['LICENSE', 'README.md', 'package.json'];
      expect(packed).toEqual(
        [...new Set([...alone, ...[...named, ...types].map((file) => file.slice(2))])]
          .map((file) => `package/${file}`)
          .concat(shared)
          .sort(),
      );
    },
  );

  it('install with the printed lines of pack:all, as dependencies or devDependencies', () => {
    const app = mkdtempSync(join(folder, 'app-'));
    const known = { devDependencies: { '@paylink/koa': `file:${tarballs['@paylink/koa']!}` } };
    writeFileSync(join(app, 'package.json'), JSON.stringify(known));
    const [npm, pnpm] = installLines(['@paylink/koa', '@paylink/testing'], tarballs);
    const quiet = { npm_config_audit: 'false', npm_config_prefer_offline: 'true' };
    execFileSync('bash', ['-ec', npm!], { cwd: app, env: { ...process.env, ...quiet } });
    const { dependencies, devDependencies } = JSON.parse(
      readFileSync(join(app, 'package.json'), 'utf8'),
    ) as Record<string, object>;
    expect(Object.keys(dependencies!)).toEqual(
      ['core', 'koa', 'node'].map((name) => `@paylink/${name}`),
    );
    expect(Object.keys(devDependencies!)).toEqual(['@paylink/payments', '@paylink/testing']);
    expect(pnpm).toMatch(/ && pnpm add --save-prod \S+core\S+ \S+koa\S+ \S+node\S+ && /);
    expect(pnpm).toMatch(/ && pnpm add --save-dev \S+payments\S+ \S+testing\S+$/);
  }, 60_000);
});

describe('npm pack', () => {
  it('packs a publishable manifest and does not change the manifest on disk', () => {
    // In a copy, because this rewrites the manifest, which other tests read.
    for (const path of [
      ...['package.json', 'scripts'],
      ...['core', 'node', 'express'].map((name) => `packages/${name}`),
    ]) {
      cpSync(fileURLToPath(new URL(`../../${path}`, import.meta.url)), join(folder, path), {
        recursive: true,
        filter: (source) => !source.includes('node_modules'),
      });
    }
    const cwd = join(folder, 'packages/express');
    const before = readFileSync(join(cwd, 'package.json'), 'utf8');
    const [packed] = JSON.parse(
      execFileSync('npm', ['pack', '--json', '--pack-destination', folder], {
        cwd,
        stdio: ['ignore', 'pipe', 'ignore'],
      }).toString(),
    ) as { filename: string }[];
    const contents = contentsOf(join(folder, packed!.filename));
    expect(contents).toContain('"@paylink/core": "^');
    expect(contents).not.toMatch(/@paylink\/source|workspace:/);
    expect(readFileSync(join(cwd, 'package.json'), 'utf8')).toBe(before);
  }, 120_000);
});
