import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
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

/** Packs every package into a folder, as publishing would, and gives the path of each tarball by the package's name. */
export function packAll(destination: string): Record<string, string> {
  const tarballs: Record<string, string> = {};
  for (const [name, folder] of publishedPackages()) {
    const packed = execFileSync('npx', ['-y', 'pnpm@10.34.9', 'pack', '--json', '--pack-destination', destination], {
      cwd: folder,
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    tarballs[name] = (JSON.parse(packed.toString()) as { filename: string }).filename;
  }
  return tarballs;
}
