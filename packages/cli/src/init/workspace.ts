import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Returns the package folders below the root of a monorepo, or undefined for another folder. */
export function packagesBelow(folder: string): string[] | undefined {
  const globs = globsOf(folder);
  if (globs === undefined) return undefined;
  return globs
    .flatMap((glob) => {
      const parent = /^(.+)\/\*\*?$/.exec(glob)?.[1];
      if (parent === undefined) return [glob];
      if (!existsSync(join(folder, parent))) return [];
      return readdirSync(join(folder, parent)).map((name) => `${parent}/${name}`);
    })
    .filter((path) => existsSync(join(folder, path, 'package.json')))
    .sort();
}

function globsOf(folder: string): string[] | undefined {
  const pnpm = join(folder, 'pnpm-workspace.yaml');
  if (existsSync(pnpm)) {
    const list = /^packages:\s*\n((?:[ \t]*-.*\n?)*)/m.exec(readFileSync(pnpm, 'utf8'))?.[1] ?? '';
    return Array.from(list.matchAll(/-\s*['"]?([^'"\s#]+)/g), ([, glob]) => trimmed(glob!));
  }
  const manifest = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as {
    readonly workspaces?: readonly string[] | { readonly packages?: readonly string[] };
  };
  const { workspaces } = manifest;
  if (workspaces === undefined) return undefined;
  return ('packages' in workspaces ? workspaces.packages : (workspaces as readonly string[]))?.map(
    trimmed,
  );
}

function trimmed(glob: string): string {
  return glob.replace(/^\.\//, '').replace(/\/$/, '');
}
