/** Writes Prisma's client, unless it is newer than the schema. The types and the tests need it. */
import { execFileSync } from 'node:child_process';
import { statSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';

const changedAt = (path) =>
  statSync(join(import.meta.dirname, path), { throwIfNoEntry: false })?.mtimeMs ?? 0;

if (changedAt('.cache/prisma/client.ts') < changedAt('prisma/schema.prisma')) {
  const manifest = createRequire(import.meta.url).resolve('prisma/package.json');
  execFileSync(process.execPath, [join(dirname(manifest), 'build', 'index.js'), 'generate'], {
    cwd: import.meta.dirname,
    // Generating needs no schema engine, but Prisma downloads one unless it gets a file.
    env: {
      ...process.env,
      PRISMA_SCHEMA_ENGINE_BINARY: process.execPath,
      CHECKPOINT_DISABLE: '1',
    },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
}
