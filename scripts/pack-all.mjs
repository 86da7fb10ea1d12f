/**
 * `pnpm pack:all [express postgres …]`: installs, builds and packs the named packages and those that they need into tarballs/, and
 * prints the lines that install them into an app. Without a name, it packs all, and prints the lines for each host.
 */
import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { build, install, ROOT } from './bootstrap.mjs';
import { installLines, packAll, publishedPackages, withItsOwn } from './pack.mjs';

const HOSTS = ['express', 'fastify', 'koa', 'hono', 'next', 'nest', 'lambda', 'node', 'fetch'];
const FOLDER = join(ROOT, 'tarballs');

const ours = (name) => (name.startsWith('@paylink/') ? name : `@paylink/${name}`);
const named = process.argv.slice(2).map(ours);
const unknown = named.filter((name) => !publishedPackages().has(name));
if (unknown.length > 0) {
  console.error(
    `Unknown: ${unknown.join(', ')}. Packages: ${[...publishedPackages().keys()].join(', ')}`,
  );
  process.exit(1);
}

const names = named.length > 0 ? withItsOwn(named) : undefined;
await install(names);
await build(names);
rmSync(FOLDER, { recursive: true, force: true });
mkdirSync(FOLDER);
process.stdout.write('Packing… ');
const tarballs = packAll(FOLDER, names);
console.log(`${Object.keys(tarballs).length} packages in ${FOLDER}`);

for (const group of named.length > 0 ? [named] : HOSTS.map((host) => [ours(host)])) {
  console.log(`\n${group.join(' ')}`);
  for (const line of installLines(group, tarballs)) console.log(line);
}
