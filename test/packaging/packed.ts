/** The tarballs of all packages, packed once for every test of a run. */
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { packedAll, publishedPackages } from './pack.js';

const VARIABLE = 'PAYLINK_TARBALLS';

/** Packs for vitest's workers, which inherit the environment. */
export default function setup(): () => void {
  const isBuilt = [...publishedPackages().values()].every((folder) =>
    existsSync(join(folder, 'dist')),
  );
  if (!isBuilt) return () => undefined;
  const folder = mkdtempSync(join(tmpdir(), 'paylink-tarballs-'));
  process.env[VARIABLE] = JSON.stringify(packedAll(folder));
  return () => rmSync(folder, { recursive: true, force: true });
}

/** Returns each tarball's path by package name. @throws Error if the packages are not built */
export function tarballs(): Readonly<Record<string, string>> {
  const packed = process.env[VARIABLE];
  if (packed === undefined) throw new Error('build the packages first: npx pnpm build');
  return JSON.parse(packed) as Record<string, string>;
}
