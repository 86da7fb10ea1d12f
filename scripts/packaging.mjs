/**
 * Checks every package in its published form: the manifest and files (publint), and the types'
 * resolution (attw). With `--reproducible` also that a second build gives the same bytes. Build
 * first.
 */
import { createHash } from 'node:crypto';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { checkPackage, createPackageFromTarballData } from '@arethetypeswrong/core';
import { publint } from 'publint';
import { formatMessage } from 'publint/utils';
import { pnpm } from './bootstrap.mjs';
import { packAll, packedAll } from './pack.mjs';

const isReproducible = process.argv.includes('--reproducible');
const first = await mkdtemp(join(tmpdir(), 'paylink-packages-'));
const second = await mkdtemp(join(tmpdir(), 'paylink-packages-'));
const hashOf = (bytes) => createHash('sha256').update(bytes).digest('hex');

/** Returns a line for each problem of a tarball. */
async function problemsOf(tarball) {
  const bytes = await readFile(tarball);
  const { buffer } = new Uint8Array(bytes);
  const { messages, pkg } = await publint({ strict: true, pack: { tarball: buffer } });
  const types = await checkPackage(createPackageFromTarballData(bytes));
  if (types.types === false) return ['It has no types.'];
  const problems = [
    ...messages.map((message) => `publint: ${formatMessage(message, pkg)}`),
    ...types.problems.map((problem) => `attw: ${JSON.stringify(problem)}`),
  ];
  if (isReproducible && hashOf(bytes) !== hashOf(await readFile(join(second, basename(tarball)))))
    problems.push('A second build gave other bytes.');
  return problems;
}

try {
  const tarballs = Object.values(isReproducible ? packAll(first) : packedAll(first));
  if (isReproducible) {
    await pnpm(['build']);
    packAll(second);
  }
  for (const tarball of tarballs.sort()) {
    const problems = await problemsOf(tarball);
    console.log(
      `${basename(tarball)}: ${problems.length === 0 ? 'no problem' : problems.join('\n  ')}`,
    );
    if (problems.length > 0) process.exitCode = 1;
  }
} finally {
  await rm(first, { recursive: true });
  await rm(second, { recursive: true });
}
