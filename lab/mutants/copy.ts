import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, lstatSync, mkdirSync, mkdtempSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';

/**
 * Copies the checkout, so that mutations do not touch it. In Stryker's own copy, packages would
 * find each other through links into the checkout, which is not mutated.
 */
export function copyOfCheckout(root: string): string {
  const copy = mkdtempSync(join(tmpdir(), 'paylink-mutants-'));
  const files = execFileSync(
    'git',
    ['ls-files', '-z', '--cached', '--others', '--exclude-standard'],
    {
      cwd: root,
      encoding: 'utf8',
    },
  )
    .split('\0')
    .filter((path) => path !== '' && existsSync(join(root, path)));
  for (const path of files) {
    mkdirSync(dirname(join(copy, path)), { recursive: true });
    cpSync(join(root, path), join(copy, path), { verbatimSymlinks: true });
  }
  symlinkSync(join(root, 'node_modules'), join(copy, 'node_modules'));
  // A package's links are relative, so they lead to the copies.
  const packages = files
    .filter((path) => basename(path) === 'package.json' && dirname(path) !== '.')
    .map(dirname);
  for (const folder of packages) {
    const modules = join(root, folder, 'node_modules');
    if (existsSync(modules))
      cpSync(modules, join(copy, folder, 'node_modules'), {
        recursive: true,
        verbatimSymlinks: true,
        filter: isLink,
      });
  }
  return copy;
}

/** Returns true for links and their folders. */
function isLink(path: string): boolean {
  return lstatSync(path).isSymbolicLink() || /\/node_modules(\/@[^/]+)?$/.test(path);
}
