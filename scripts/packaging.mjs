/**
 * Checks every package in its published form: the manifest and files (publint), and the types'
 * resolution (attw). With `--reproducible` also that a second build gives the same bytes. Build
 * first.
 */
import { createHash } from 'node:crypto';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pnpm, ROOT, run } from './bootstrap.mjs';
import { packAll } from './pack.mjs';

const isReproducible = process.argv.includes('--reproducible');
const first = await mkdtemp(join(tmpdir(), 'paylink-packages-'));
const second = await mkdtemp(join(tmpdir(), 'paylink-packages-'));
const hashOf = async (path) =>
  createHash('sha256')
    .update(await readFile(path))
    .digest('hex');
const fail = (problem) => {
  if (problem !== undefined) console.error(problem);
  process.exitCode = 1;
};
try {
  packAll(first);
  if (isReproducible) {
    await pnpm(['build']);
    packAll(second);
  }
  for (const tarball of (await readdir(first)).sort()) {
    console.log(`\n${tarball}`);
    const path = join(first, tarball);
    const bin = (name) => join(ROOT, 'node_modules', '.bin', name);
    if ((await run(bin('publint'), ['--strict', path])) !== 0) fail();
    if ((await run(bin('attw'), [path, '--format', 'table-flipped', '--no-emoji'])) !== 0) fail();
    if (isReproducible && (await hashOf(path)) !== (await hashOf(join(second, tarball))))
      fail('A second build gave other bytes.');
  }
} finally {
  await rm(first, { recursive: true });
  await rm(second, { recursive: true });
}
