import { execFileSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { packAll, publishedPackages } from './pack.js';

const packages = publishedPackages();
const folder = mkdtempSync(join(tmpdir(), 'paylink-tarballs-'));

afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
});

function contentsOf(tarball: string): string {
  return execFileSync('tar', ['-xzOf', tarball], { maxBuffer: 64 * 1024 * 1024 }).toString();
}

describe('the tarballs', () => {
  let tarballs: Record<string, string>;

  beforeAll(() => {
    tarballs = packAll(folder);
  }, 60_000);

  it.each([...packages.keys()])('of %s have no door to the sources', (name) => {
    expect(contentsOf(tarballs[name]!)).not.toContain('@paylink/source');
  });
});

describe('npm pack', () => {
  it('gives a manifest that is ready to publish, and leaves the one on disk as it was', () => {
    // In a copy: it rewrites the manifest for a moment, which other tests read.
    for (const path of ['scripts', ...['core', 'node', 'express'].map((name) => `packages/${name}`)]) {
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
  }, 30_000);
});
