import { readdirSync, readFileSync } from 'node:fs';
import { expect, it } from 'vitest';

const folder = new URL('../src/', import.meta.url);
const sources = readdirSync(folder).map(
  (name) => [name, readFileSync(new URL(name, folder), 'utf8')] as const,
);
const manifest = JSON.parse(
  readFileSync(new URL('../package.json', import.meta.url), 'utf8'),
) as Record<string, unknown>;

it('depends on core alone', { tags: 'K02' }, () => {
  expect(manifest['dependencies']).toEqual({ '@paylink/core': 'workspace:^' });
  expect(manifest).not.toHaveProperty('peerDependencies');
});

it.each(sources)(
  'runs on every runtime, because it imports only its own files and core: %s',
  (_, text) => {
    const imports = Array.from(text.matchAll(/(?:from|import\() *'([^']+)'/g), ([, path]) => path!);
    expect(
      imports.filter((path) => !/^(\.\/[a-z-]+\.js|@paylink\/core(\/internal)?)$/.test(path)),
    ).toEqual([]);
    expect(text.replace(/\/\*[^]*?\*\/|\/\/.*$/gm, '')).not.toMatch(/\b(process|Buffer|require)\b/);
  },
);

it('explains every error code in its README, and no other', () => {
  const codes = Array.from(
    readFileSync(new URL('errors.ts', folder), 'utf8').matchAll(/^ {2}\| '([a-z_]+)'/gm),
    ([, code]) => code,
  );
  const readme = readFileSync(new URL('../README.md', import.meta.url), 'utf8');
  const explained = Array.from(
    readme.slice(readme.indexOf('## Errors')).matchAll(/^\| `([a-z_]+)`/gm),
    ([, code]) => code,
  );
  expect(codes.length).toBeGreaterThan(15);
  expect(explained.sort()).toEqual(codes.sort());
});
