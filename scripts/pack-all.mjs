/**
 * `pnpm pack:all [express postgres …]`: builds what is not built, packs every package into tarballs/, and prints how to install the
 * named ones, with those of ours that they stand on; without a name, of each host.
 */
import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { build, ROOT } from './bootstrap.mjs';
import { packAll, publishedPackages, withItsOwn } from './pack.mjs';

const HOSTS = ['express', 'fastify', 'koa', 'hono', 'next', 'nest', 'lambda', 'node', 'fetch'];
const FOLDER = join(ROOT, 'tarballs');

const named = process.argv
  .slice(2)
  .map((name) => (name.startsWith('@paylink/') ? name : `@paylink/${name}`));
const unknown = named.filter((name) => !publishedPackages().has(name));
if (unknown.length > 0) {
  console.error(
    `Unknown: ${unknown.join(', ')}. Packages: ${[...publishedPackages().keys()].join(', ')}`,
  );
  process.exit(1);
}

await build();
rmSync(FOLDER, { recursive: true, force: true });
mkdirSync(FOLDER);
const tarballs = packAll(FOLDER);
console.log(`${Object.keys(tarballs).length} packages in ${FOLDER}`);

const files = (names) =>
  withItsOwn(names)
    .map((name) => tarballs[name])
    .join(' ');

/** pnpm looks for what a tarball depends on in the registry, unless an override says where it is. */
function overridesOf(names) {
  return JSON.stringify(
    Object.fromEntries(withItsOwn(names).map((name) => [name, `file:${tarballs[name]}`])),
  );
}

for (const names of named.length > 0 ? [named] : HOSTS.map((host) => [`@paylink/${host}`])) {
  console.log(`\n${names.join(' ')}`);
  console.log(`npm install ${files(names)}`);
  console.log(
    `pnpm config set --location=project --json overrides '${overridesOf(names)}' && pnpm add ${files(names)}`,
  );
}
