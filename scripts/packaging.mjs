/** Checks every package as it would be published: publint on the manifest and files, attw on how its types resolve. */
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pnpm, ROOT, run } from './bootstrap.mjs';

const folder = await mkdtemp(join(tmpdir(), 'paylink-packages-'));
try {
  await pnpm(['--filter', './packages/*', 'exec', 'pnpm', 'pack', '--pack-destination', folder]);
  for (const tarball of (await readdir(folder)).sort()) {
    console.log(`\n${tarball}`);
    const path = join(folder, tarball);
    const bin = (name) => join(ROOT, 'node_modules', '.bin', name);
    const codes = [
      await run(bin('publint'), ['--strict', path]),
      await run(bin('attw'), [path, '--format', 'table-flipped', '--no-emoji']),
    ];
    if (codes.some((code) => code !== 0)) process.exitCode = 1;
  }
} finally {
  await rm(folder, { recursive: true, force: true });
}
