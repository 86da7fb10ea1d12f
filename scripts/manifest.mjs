/**
 * Makes the published package.json: without the source conditions and the fields for this
 * repository. .pnpmfile.cjs applies it to `pnpm pack` and `pnpm publish`. `npm pack` has no such
 * hook, so each package's `prepack` and `postpack` write it to disk and restore the original.
 */
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { SOURCE } from './source.mjs';

const PACKAGES = join(dirname(dirname(fileURLToPath(import.meta.url))), 'packages');
const DEPENDENCIES = ['dependencies', 'peerDependencies', 'optionalDependencies'];

export function publishedManifest({ scripts, devDependencies, ...manifest }, folder) {
  for (const field of ['exports', 'imports']) {
    if (manifest[field] !== undefined) manifest[field] = withoutSource(manifest[field]);
  }
  for (const field of DEPENDENCIES) {
    if (manifest[field] !== undefined) manifest[field] = withVersions(manifest[field]);
  }
  return { ...manifest, ...originOf(folder, manifest.version) };
}

/** The root's manifest says once who publishes, and where: see CONTRIBUTING.md. */
function originOf(folder, version) {
  const { author, repository } = JSON.parse(
    readFileSync(join(dirname(PACKAGES), 'package.json'), 'utf8'),
  );
  if (!repository) return {};
  const directory = `packages/${basename(folder)}`;
  return {
    author,
    repository: { type: 'git', url: `git+${repository}.git`, directory },
    homepage: `${repository}/tree/v${version}/${directory}#readme`,
    bugs: `${repository}/issues`,
  };
}

function withoutSource(value) {
  if (typeof value !== 'object' || value === null) return value;
  const kept = Object.entries(value).filter(([condition]) => condition !== SOURCE);
  return Object.fromEntries(kept.map(([condition, target]) => [condition, withoutSource(target)]));
}

/**
 * Replaces `workspace:` ranges, which npm does not know and pnpm has already replaced. Sorts them,
 * because pnpm's order varies, and two builds would differ.
 */
function withVersions(dependencies) {
  const sorted = Object.entries(dependencies).sort(([one], [other]) => (one < other ? -1 : 1));
  return Object.fromEntries(
    sorted.map(([name, range]) => {
      if (!range.startsWith('workspace:')) return [name, range];
      const { version } = JSON.parse(
        readFileSync(join(PACKAGES, name.slice('@paylink/'.length), 'package.json'), 'utf8'),
      );
      const sign = range.slice('workspace:'.length);
      return [name, sign === '*' ? version : `${sign}${version}`];
    }),
  );
}

if (
  process.argv[1] === fileURLToPath(import.meta.url) &&
  /npm-cli\.js$/.test(process.env.npm_execpath ?? '')
) {
  const original = 'package.json.original';
  // Also before packing, because a killed `npm pack` leaves the backup.
  if (existsSync(original)) renameSync(original, 'package.json');
  if (process.argv[2] === 'prepack') {
    const manifest = JSON.parse(readFileSync('package.json', 'utf8'));
    renameSync('package.json', original);
    writeFileSync(
      'package.json',
      `${JSON.stringify(publishedManifest(manifest, process.cwd()), null, 2)}\n`,
    );
  }
}
