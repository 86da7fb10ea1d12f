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
  shop: ['terminal'],
};

const files = readdirSync(SOURCE, { recursive: true, encoding: 'utf8' }).filter((name) =>
  name.endsWith('.ts'),
);

function importsOf(name: string): string[] {
  const code = readFileSync(join(SOURCE, name), 'utf8');
  return Array.from(code.matchAll(/from '(\.[^']*)\.js'/g), ([, path]) =>
    posix.join(posix.dirname(name), `${path!}.ts`),
  );
}

it('each feature has a folder with its command, and imports shared folders alone', () => {
  const loose = files.filter((name) => !name.includes('/'));
  expect(loose.sort()).toEqual(['main.ts', 'program.ts']);
  const inFolders = files.filter((name) => name.includes('/'));
  const wrong = inFolders.flatMap((name) => {
    const [folder = ''] = name.split('/');
    const allowed = [folder, '..', ...(SHARED[folder] ?? Object.keys(SHARED))];
    return importsOf(name)
      .filter((path) => !allowed.includes(path.split('/')[0]!))
      .map((path) => `${name} imports ${path}`);
  });
  expect(wrong).toEqual([]);
  const folders = new Set(inFolders.map((name) => name.split('/')[0]!));
  for (const folder of folders)
    if (!(folder in SHARED)) expect(files).toContain(`${folder}/command.ts`);
});
