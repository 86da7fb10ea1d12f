import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, lstatSync, mkdirSync, mkdtempSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';

/**
 * Copies the checkout, so that no source is mutated in the checkout, where people work. Stryker's
 * own copy would not do: in it a package finds the others by links into the checkout, and these are
 * not mutated.
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
  // The links of a package are relative: in the copy they lead to the copies of the others.
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

/** Links, and the folders in which they lie: of a scope, or all of them. */
function isLink(path: string): boolean {
  return lstatSync(path).isSymbolicLink() || /\/node_modules(\/@[^/]+)?$/.test(path);
}
