import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { Release } from './versions.js';

type Package = Pick<Release, 'package' | 'version'> & {
  /** Versions of its dependencies. */
  readonly overrides?: Readonly<Record<string, string>>;
};

const run = promisify(execFile);
const CACHE = fileURLToPath(
  new URL('../../node_modules/.cache/paylink-runtimes/', import.meta.url),
);

/** A runtime's executable, or the reason why it is missing. */
export type Installed = { readonly executable: string } | { readonly missing: string };

/** Installs a runtime with npm, once. Later runs find it in the cache without a network. */
export async function install(release: Release): Promise<Installed> {
  const executable = join(folderOf(release), 'node_modules', release.package, release.binary);
  try {
    if (!existsSync(executable)) await fetchInto(folderOf(release), release);
    // A binary for another libc or processor does not run.
    await run(executable, ['--version'], { timeout: 30_000 });
    return { executable };
  } catch (error) {
    return { missing: (error as Error).message };
  }
}

/** Installs a package that is too heavy for the lockfile. Returns its folder. */
export async function installPackage(release: Package): Promise<string> {
  const folder = folderOf(release);
  if (!existsSync(folder)) await fetchInto(folder, release);
  return join(folder, 'node_modules', release.package);
}

function folderOf(release: Package): string {
  return join(CACHE, `${release.package.replace('/', '+')}@${release.version}`);
}

/** Installs next to the folder, then renames, so that a stopped run leaves no partial runtime. */
async function fetchInto(folder: string, release: Package): Promise<void> {
  await mkdir(CACHE, { recursive: true });
  const fresh = await mkdtemp(join(CACHE, 'installing-'));
  try {
    const { overrides } = release;
    await writeFile(join(fresh, 'package.json'), JSON.stringify({ private: true, overrides }));
    const flags = [
      '--no-audit',
      '--no-fund',
      '--ignore-scripts',
      '--prefer-offline',
      '--save-exact',
    ];
    await run('npm', ['install', ...flags, `${release.package}@${release.version}`], {
      cwd: fresh,
      timeout: 300_000,
    });
    await rename(fresh, folder);
  } catch (error) {
    // Another run may have been faster.
    if (!existsSync(folder)) throw error;
  } finally {
    await rm(fresh, { recursive: true, force: true });
  }
}
