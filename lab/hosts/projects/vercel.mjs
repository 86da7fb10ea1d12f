/**
 * `node vercel.mjs` builds the functions in api/ with Vercel's own builder, which `vercel build`
 * runs: the command itself needs an account. `node vercel.mjs serve` serves them with the server of
 * `vercel dev`, which comes with the builder.
 */
import { rm } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { build } from '@vercel/node';
import { download, glob } from '@vercel/build-utils';

const OUTPUT = '.vercel/output';
const entrypoint = 'api/webhooks/payments.ts';

async function buildFunction() {
  const workPath = process.cwd();
  const files = await glob('{api,lib,package.json,tsconfig.json}{,/**}', workPath);
  const { output } = await build({
    files,
    entrypoint,
    workPath,
    repoRootPath: workPath,
    config: { zeroConfig: true, projectSettings: { installCommand: '' } },
    considerBuildCommand: true,
    meta: { skipDownload: true },
  });
  await rm(OUTPUT, { recursive: true, force: true });
  await download(output.files, join(workPath, OUTPUT));
}

async function serve() {
  process.env.VERCEL_DEV_ENTRYPOINT = entrypoint.replace(/ts$/, 'js');
  process.env.VERCEL_DEV_PORT = process.env.PORT;
  process.env.VERCEL_DEV_BUILD_ENV = JSON.stringify({ NODEJS_HELPERS: process.env.NODEJS_HELPERS });
  process.chdir(OUTPUT);
  // An unknown method throws in its server, which `vercel dev` would start again.
  process.on('uncaughtException', (error) => console.error(error.message));
  const builder = dirname(createRequire(import.meta.url).resolve('@vercel/node'));
  await import(join(builder, 'dev-server.mjs'));
}

await (process.argv[2] === 'serve' ? serve() : buildFunction());
