import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../../', import.meta.url));

/** The packages that are published, by name, with their folders. */
export function publishedPackages(): Map<string, string> {
  const folders = readdirSync(join(root, 'packages')).map((name) => join(root, 'packages', name));
  return new Map(
    folders.map((folder) => [(JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as { name: string }).name, folder]),
  );
}

/**
 * Packs every package into a folder, as publishing would, and gives the path of each tarball by the package's name.
 *
 * @throws when a package is not built: it would be packed all the same, with nothing in it.
 */
export function packAll(destination: string): Record<string, string> {
  const unbuilt = [...publishedPackages()].filter(([, folder]) => !existsSync(join(folder, 'dist')));
  if (unbuilt.length > 0) throw new Error(`not built: ${unbuilt.map(([name]) => name).join(', ')}`);
  // Scripts write to the output that the list is read from.
  const args = [
    '--recursive',
    '--filter',
    './packages/*',
    '--config.ignore-scripts=true',
    'pack',
    '--json',
    '--pack-destination',
    destination,
  ];
  const packed = execFileSync('npx', ['-y', 'pnpm@10.34.9', ...args], {
    cwd: root,
    stdio: ['ignore', 'pipe', 'ignore'],
    maxBuffer: 16 * 1024 * 1024,
  });
  const tarballs = JSON.parse(packed.toString()) as { name: string; filename: string }[];
  return Object.fromEntries(tarballs.map(({ name, filename }) => [name, filename]));
}
