/** Writes Prisma's clients, unless they are newer than their schemas. Types and tests need them. */
import { execFileSync } from 'node:child_process';
import { readdirSync, statSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';

const changedAt = (path) =>
  statSync(join(import.meta.dirname, path), { throwIfNoEntry: false })?.mtimeMs ?? 0;
const manifest = createRequire(import.meta.url).resolve('prisma/package.json');

for (const schema of readdirSync(join(import.meta.dirname, 'prisma'))) {
  const name = schema.replace('.prisma', '');
  if (changedAt(`.cache/${name}/client.ts`) >= changedAt(`prisma/${schema}`)) continue;
  execFileSync(
    process.execPath,
    [join(dirname(manifest), 'build', 'index.js'), 'generate', '--schema', `prisma/${schema}`],
    {
      cwd: import.meta.dirname,
      // Generating needs no schema engine, but Prisma downloads one unless it gets a file.
      env: {
        ...process.env,
        PRISMA_SCHEMA_ENGINE_BINARY: process.execPath,
        CHECKPOINT_DISABLE: '1',
      },
      stdio: ['ignore', 'ignore', 'inherit'],
    },
  );
}
