/** Runs the blocks of docs/testing.md in the named runners, with the page's own lines. */
import { exec } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { blockOf } from './blocks.js';

const root = (path: string): string => fileURLToPath(new URL(`../../${path}`, import.meta.url));
const page = 'docs/testing.md';

/** A reader's installed packages. */
const INSTALLED = {
  '@paylink': 'test/node_modules/@paylink',
  tsx: 'test/node_modules/tsx',
  vitest: 'node_modules/vitest',
  jest: 'examples/jest/node_modules/jest',
  '.bin/vitest': 'node_modules/vitest/vitest.mjs',
  '.bin/jest': 'examples/jest/node_modules/jest/bin/jest.js',
};

let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'paylink-testing-'));
  await mkdir(join(folder, 'node_modules/.bin'), { recursive: true });
  for (const [name, path] of Object.entries(INSTALLED))
    await symlink(root(path), join(folder, 'node_modules', name));
  await writeFile(join(folder, 'package.json'), '{ "type": "module" }');
  await writeFile(join(folder, 'shop.ts'), await blockOf(page, '// shop.ts'));
});

afterAll(() => rm(folder, { recursive: true, force: true }));

it.each([
  ['vitest', 'vitest.test.ts', /Tests +1 passed \(1\)/],
  ['node:test', 'node.test.ts', /# pass 1\n# fail 0/],
  ['jest', 'jest.test.cjs', /Tests: +1 passed, 1 total/],
])('docs/testing.md shows a test that passes in %s', async (_, file, passed) => {
  const markdown = await readFile(root(page), 'utf8');
  await writeFile(join(folder, file), await blockOf(page, `// ${file}\n`));
  const [, line] = new RegExp(`^\`\`\`sh\n((?:npx|node) .*${file})$`, 'm').exec(markdown)!;
  const { stdout, stderr } = await promisify(exec)(line!, {
    cwd: folder,
    env: {
      PATH: process.env['PATH'],
      HOME: folder,
      NO_COLOR: '1',
    } as unknown as NodeJS.ProcessEnv,
  });
  expect(stdout + stderr).toMatch(passed);
});
