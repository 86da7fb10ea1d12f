/**
 * Packs packages as publishing would, for every script and test that needs a tarball.
 *
 * `pnpm pack:all [express payments …]` installs, builds and packs the named packages and their
 * dependencies into tarballs/, and prints the lines that install them into an app. Without a name,
 * it packs all packages, and prints the lines of a whole integration for each host.
 */
import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build, install, PNPM, ROOT } from './bootstrap.mjs';

/**
 * Maps the name of each published package to its folder.
 *
 * @returns {Map<string, string>}
 */
export function publishedPackages() {
  // A folder of a deleted package can stay behind with its node_modules.
  const folders = readdirSync(join(ROOT, 'packages'))
    .map((name) => join(ROOT, 'packages', name))
    .filter((folder) => existsSync(join(folder, 'package.json')));
  return new Map(
    folders.map((folder) => [
      JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')).name,
      folder,
    ]),
  );
}

/**
 * Packs the packages as for publishing, and returns each tarball's path by package name.
 *
 * @param {string} destination
 * @param {readonly string[]} [names] all by default
 * @returns {Record<string, string>}
 * @throws if a package is not built, because its tarball would be empty
 */
export function packAll(destination, names = [...publishedPackages().keys()]) {
  const packages = publishedPackages();
  const unbuilt = names.filter((name) => !existsSync(join(packages.get(name), 'dist')));
  if (unbuilt.length > 0) throw new Error(`not built: ${unbuilt.join(', ')}`);
  for (const folder of packages.values()) {
    const { files } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
    // An assistant in an app reads the rules beside the package.
    if (files.includes('skills'))
      cpSync(join(ROOT, 'skills'), join(folder, 'skills'), { recursive: true });
  }
  // Scripts write to the same output as the list.
  const args = [
    '--recursive',
    ...names.map((name) => `--filter=${name}`),
    '--config.ignore-scripts=true',
    'pack',
    '--json',
  ];
  const packed = execFileSync('npx', ['-y', PNPM, ...args, '--pack-destination', destination], {
    cwd: ROOT,
    stdio: ['ignore', 'pipe', 'ignore'],
    maxBuffer: 16 * 1024 * 1024,
  });
  return Object.fromEntries(
    [JSON.parse(packed.toString())].flat().map(({ name, filename }) => [name, filename]),
  );
}

/**
 * Returns the tarballs of all packages that `.ci/run` packed for its steps, or else packs them.
 *
 * @param {string} destination
 * @returns {Record<string, string>}
 */
export function packedAll(destination) {
  const { PAYLINK_TARBALLS } = process.env;
  return PAYLINK_TARBALLS === undefined ? packAll(destination) : JSON.parse(PAYLINK_TARBALLS);
}

/**
 * Adds the Paylink packages that these depend on, so that npm does not ask a registry for them.
 *
 * @param {readonly string[]} names
 * @returns {string[]}
 */
export function withItsOwn(names) {
  const packages = publishedPackages();
  const found = new Set();
  const add = (name) => {
    if (found.has(name)) return;
    found.add(name);
    const { dependencies = {} } = JSON.parse(
      readFileSync(join(packages.get(name), 'package.json'), 'utf8'),
    );
    for (const dependency of Object.keys(dependencies))
      if (packages.has(dependency)) add(dependency);
  };
  for (const name of names) add(name);
  return [...found].sort();
}

/** Packages for a merchant's machine and tests. `paylink reconcile` runs in production. */
const DEVELOPMENT = ['emulator', 'testing'].map((name) => `@paylink/${name}`);

/**
 * Returns the lines that install tarballs into an app, with development packages as such.
 *
 * @param {readonly string[]} names
 * @param {Record<string, string>} tarballs
 * @returns {string[]} a line for npm, and one for pnpm
 */
export function installLines(names, tarballs) {
  const runtime = withItsOwn(names.filter((name) => !DEVELOPMENT.includes(name)));
  const development = withItsOwn(names).filter((name) => !runtime.includes(name));
  const add = (command, list) =>
    list.length === 0 ? [] : [[command, ...list.map((name) => tarballs[name])].join(' ')];
  // Without overrides, pnpm would look for a tarball's dependencies in the registry.
  const overrides = JSON.stringify(
    Object.fromEntries(withItsOwn(names).map((name) => [name, `file:${tarballs[name]}`])),
  );
  return [
    // Without an option, npm and pnpm leave a package in devDependencies.
    [...add('npm install --save-prod', runtime), ...add('npm install --save-dev', development)],
    [
      `pnpm config set --location=project --json overrides '${overrides}'`,
      ...add('pnpm add --save-prod', runtime),
      ...add('pnpm add --save-dev', development),
    ],
  ].map((commands) => commands.join(' && '));
}

const HOSTS = ['express', 'fastify', 'koa', 'hono', 'next', 'nest', 'lambda', 'node', 'fetch'];
const WITH_HOST = ['client', 'payments', 'cli', 'emulator', 'testing'];
const FOLDER = join(ROOT, 'tarballs');

const ours = (name) => (name.startsWith('@paylink/') ? name : `@paylink/${name}`);

async function packForApp(named) {
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
  // Tarballs of other packages stay, because a package.json may name them.
  mkdirSync(FOLDER, { recursive: true });
  process.stdout.write('Packing… ');
  const tarballs = packAll(FOLDER, names);
  console.log(`${Object.keys(tarballs).length} packages in ${FOLDER}`);

  const groups = HOSTS.map((host) => [ours(host), ...WITH_HOST.map(ours)]);
  for (const group of named.length > 0 ? [named] : groups) {
    console.log(`\n${group.join(' ')}`);
    for (const line of installLines(group, tarballs)) console.log(line);
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url))
  await packForApp(process.argv.slice(2).map(ours));
