/** `pnpm types`: compiles everything, and generates first what Prisma's example is typed by. */
import { createHash } from 'node:crypto';
import { readFileSync, statSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { ROOT, run } from './bootstrap.mjs';

const orms = join(ROOT, 'examples', 'orms');

const changedAt = (path) => statSync(join(orms, path), { throwIfNoEntry: false })?.mtimeMs ?? 0;

async function generatePrismaClient() {
  if (changedAt('.cache/prisma/client/client.ts') > changedAt('prisma/schema.prisma')) return 0;
  const prisma = join(
    dirname(createRequire(join(orms, 'package.json')).resolve('prisma/package.json')),
    'build',
    'index.js',
  );
  // Generating needs no schema engine, but Prisma downloads one unless it is given a file.
  const env = {
    ...process.env,
    PRISMA_SCHEMA_ENGINE_BINARY: process.execPath,
    CHECKPOINT_DISABLE: '1',
  };
  return run(process.execPath, [prisma, 'generate'], {
    cwd: orms,
    env,
    stdio: ['ignore', 'ignore', 'inherit'],
  });
}

// An incremental compiler does not notice what an installation adds, so each lockfile has a cache of its own.
const installed = createHash('sha256')
  .update(readFileSync(join(ROOT, 'pnpm-lock.yaml')))
  .digest('hex')
  .slice(0, 8);
const tsc = [join(ROOT, 'node_modules/typescript/bin/tsc'), '--noEmit', '--incremental'];
const cache = [
  '--tsBuildInfoFile',
  join(ROOT, `node_modules/.cache/types-${installed}.tsbuildinfo`),
];
process.exitCode =
  (await generatePrismaClient()) || (await run(process.execPath, [...tsc, ...cache]));
