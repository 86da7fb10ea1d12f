/** `pnpm types`: compiles everything, and generates first what Prisma's example is typed by. */
import { statSync } from 'node:fs';
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

// TypeScript 7 checks everything in seconds. ESLint, typedoc and tsup need the API of 5.9.
const tsc = join(ROOT, 'scripts', 'node_modules', 'typescript7', 'bin', 'tsc');
process.exitCode =
  (await generatePrismaClient()) || (await run(process.execPath, [tsc, '--noEmit']));
