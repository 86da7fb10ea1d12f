/** The packages of the repository, which replace those that a project would install. */
import { mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync } from 'node:fs';
import { symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll } from 'vitest';

const FOLDERS = ['examples/jest', 'test', 'examples/databases', 'examples/nest', '.'].map((name) =>
  fileURLToPath(new URL(`../../${name}/node_modules`, import.meta.url)),
);

const parent = mkdtempSync(join(tmpdir(), 'paylink-packages-'));
const modules = join(parent, 'node_modules');
for (const folder of FOLDERS) link(folder, modules);
afterAll(() => rmSync(parent, { recursive: true }));

/** Links each package and each command, unless an earlier folder has its name. */
function link(source: string, target: string): void {
  mkdirSync(target, { recursive: true });
  const taken = new Set(readdirSync(target));
  for (const name of readdirSync(source)) {
    const isFolder = name === '.bin' || name.startsWith('@');
    if (isFolder) link(join(source, name), join(target, name));
    else if (!name.startsWith('.') && !taken.has(name))
      symlinkSync(join(source, name), join(target, name));
  }
}

/** Gives a project its `node_modules`. The projects of a file share it. */
export const linkPackages = (folder: string): Promise<void> =>
  symlink(modules, join(folder, 'node_modules'));
