import { readdirSync, readFileSync } from 'node:fs';
import { join, posix } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';

const SOURCE = fileURLToPath(new URL('../src', import.meta.url));

/** What each shared folder may import, besides itself. Every other folder is a feature. */
const SHARED: Readonly<Record<string, readonly string[]>> = {
  terminal: [],
  settings: ['terminal'],
  receiver: ['terminal'],
  service: ['terminal', 'settings', 'receiver'],
  shop: ['terminal', 'settings'],
  sweep: ['terminal', 'settings', 'shop'],
};

const files = readdirSync(SOURCE, { recursive: true, encoding: 'utf8' }).filter((name) =>
  name.endsWith('.ts'),
);

it('each feature has a folder with its command, and imports shared folders alone', () => {
  const loose = files.filter((name) => !name.includes('/'));
  expect(loose.sort()).toEqual(['main.ts', 'program.ts']);
  const wrong = files
    .filter((name) => name.includes('/'))
    .flatMap((name) => {
      const [folder = ''] = name.split('/');
      const allowed = SHARED[folder] ?? Object.keys(SHARED);
      return importsOf(name)
        .map((path) => path.split('/')[0]!)
        .filter((other) => other !== folder && other !== '..' && !allowed.includes(other))
        .map((other) => `${name} imports ${other}`);
    });
  expect(wrong).toEqual([]);
  const features = files.map((name) => name.split('/')[0]!).filter((name) => !(name in SHARED));
  for (const feature of new Set(features.filter((name) => !name.endsWith('.ts'))))
    expect(files).toContain(`${feature}/command.ts`);
});

it('no file imports itself through others, types included', () => {
  const circles = new Set<string>();
  const visit = (name: string, way: readonly string[]): void => {
    if (way.includes(name)) {
      circles.add([...way.slice(way.indexOf(name)), name].join(' → '));
      return;
    }
    if (seen.has(name)) return;
    for (const next of importsOf(name)) visit(next, [...way, name]);
    seen.add(name);
  };
  const seen = new Set<string>();
  for (const name of files) visit(name, []);
  expect([...circles]).toEqual([]);
});

function importsOf(name: string): string[] {
  const code = readFileSync(join(SOURCE, name), 'utf8');
  return Array.from(code.matchAll(/from '(\.[^']*)\.js'/g), ([, path]) =>
    posix.join(posix.dirname(name), `${path!}.ts`),
  );
}
