/** Packs the packages as publishing would; every script and test that needs a tarball has it from here. */
import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { PNPM, ROOT } from './bootstrap.mjs';

/**
 * Maps the name of each published package to its folder.
 *
 * @returns {Map<string, string>}
 */
export function publishedPackages() {
  const folders = readdirSync(join(ROOT, 'packages')).map((name) => join(ROOT, 'packages', name));
  return new Map(
    folders.map((folder) => [
      JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')).name,
      folder,
    ]),
  );
}

/**
 * Packs every package into a folder, as publishing would, and gives the path of each tarball by the package's name.
 *
 * @param {string} destination
 * @returns {Record<string, string>}
 * @throws when a package is not built: it would be packed all the same, with nothing in it.
 */
export function packAll(destination) {
  const unbuilt = [...publishedPackages()].filter(
    ([, folder]) => !existsSync(join(folder, 'dist')),
  );
  if (unbuilt.length > 0) throw new Error(`not built: ${unbuilt.map(([name]) => name).join(', ')}`);
  // Scripts write to the output that the list is read from.
  const args = [
    '--recursive',
    '--filter',
    './packages/*',
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
    JSON.parse(packed.toString()).map(({ name, filename }) => [name, filename]),
  );
}

/**
 * Adds the packages of ours that these depend on, so that npm asks no registry for them.
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
