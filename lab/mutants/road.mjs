/**
 * Breaks core in four places, in turn, and counts the packages whose tests fail:
 * `node lab/mutants/road.mjs`. Fails if fewer than six packages notice a fault. Restores the files
 * afterwards.
 */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ROOT, run } from '../../scripts/bootstrap.mjs';

const MUTANTS = [
  [
    'findMatch takes every signature for the first key’s',
    'hmac.node.ts',
    '  return match;',
    '  return 0;',
  ],
  ['the outer pad is another one', 'hmac.node.ts', '^ 0x5c;', '^ 0x5d;'],
  [
    'requireBytes lets text pass',
    'signature.ts',
    'if (isBytes(rawBody)) return rawBody;',
    "if (typeof rawBody === 'string') return new TextEncoder().encode(rawBody);\n  if " +
      '(isBytes(rawBody)) return rawBody;',
  ],
  [
    'verifyBody goes on without a match',
    'verify.ts',
    'if (secretIndex < 0) {',
    'if (secretIndex < -1) {',
  ],
];
const LEAST = 6;
const PACKAGES = ['core', 'node', 'fetch', 'express', 'fastify', 'koa', 'next', 'lambda'].map(
  (name) => `packages/${name}/`,
);

/** Returns the packages with a failing test while `source` is replaced. */
async function packagesThatNotice(path, mutated, report) {
  const source = readFileSync(path, 'utf8');
  writeFileSync(path, mutated(source));
  try {
    const args = [
      'run',
      '--project=core on node:crypto',
      '--project=packages',
      '--reporter=json',
      `--outputFile=${report}`,
      ...PACKAGES,
    ];
    await run(process.execPath, [join(ROOT, 'node_modules/vitest/vitest.mjs'), ...args], {
      stdio: 'ignore',
    });
  } finally {
    writeFileSync(path, source);
  }
  const { testResults } = JSON.parse(readFileSync(report, 'utf8'));
  const failed = testResults.filter(({ assertionResults }) =>
    assertionResults.some(({ status }) => status === 'failed'),
  );
  return new Set(failed.map(({ name }) => /packages\/([^/]+)\//.exec(name)[1]));
}

const folder = mkdtempSync(join(tmpdir(), 'paylink-mutants-'));
try {
  for (const [name, file, before, after] of MUTANTS) {
    const mutated = (source) => {
      if (source.split(before).length !== 2)
        throw new Error(`${file} has not exactly one ${before}`);
      return source.replace(before, after);
    };
    const noticed = await packagesThatNotice(
      join(ROOT, 'packages/core/src', file),
      mutated,
      join(folder, 'report.json'),
    );
    if (noticed.size < LEAST) process.exitCode = 1;
    console.log(
      `${noticed.size < LEAST ? 'FAILED' : 'ok    '} ${name}: ${[...noticed].sort().join(', ')}`,
    );
  }
} finally {
  rmSync(folder, { recursive: true });
}
