/**
 * Whether what is installed and built belongs to what lies in the checkout. Told by content and never by time, so that a checkout
 * of another branch does not look finished. A stamp holds what went in, hashed before the work, and what came out, hashed after it.
 */
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';

const BUILT_WITH = ['pnpm-lock.yaml', 'tsconfig.base.json', 'tsup.config.base.ts'];
const INSTALLED_BY = ['package.json', 'pnpm-lock.yaml', 'pnpm-workspace.yaml', '.pnpmfile.cjs'];

/**
 * The dependencies of the whole workspace.
 *
 * @param {string} root
 */
export function installation(root) {
  const manifests = projectsOf(root).map(({ folder }) => join(folder, 'package.json'));
  const inputs = hashOf(
    root,
    [...inRoot(root, INSTALLED_BY), ...manifests],
    process.platform,
    process.arch,
  );
  // pnpm's copy of the lockfile that it installed last, which may have been another one, by hand.
  const outputs = () =>
    hashOf(root, [join(root, 'node_modules', '.pnpm', 'lock.yaml'), ...linksOf(root)]);
  return stamp(join(stampsOf(root), 'installed'), inputs, outputs);
}

/**
 * The `dist` of each package, by the package's name.
 *
 * @param {string} root
 */
export function builds(root) {
  return new Map(
    packagesOf(root).map(({ folder, manifest }) => {
      const inputs = hashOf(root, [...inRoot(root, BUILT_WITH), ...sourcesOf(root, manifest.name)]);
      const outputs = () => hashOf(root, filesIn(join(folder, 'dist')));
      return [manifest.name, stamp(join(stampsOf(root), manifest.name), inputs, outputs)];
    }),
  );
}

function stamp(path, inputs, outputs) {
  return {
    isCurrent: () => existsSync(path) && readFileSync(path, 'utf8') === `${inputs}\n${outputs()}\n`,
    remember() {
      mkdirSync(dirname(path), { recursive: true });
      writeFileSync(path, `${inputs}\n${outputs()}\n`);
    },
  };
}

/** The sources of a package, and of each package that it is built on. */
function sourcesOf(root, name, seen = new Set()) {
  const found = packagesOf(root).find(({ manifest }) => manifest.name === name);
  if (found === undefined || seen.has(name)) return [];
  seen.add(name);
  const beside = readdirSync(found.folder).filter((file) => /\.(json|ts)$/.test(file));
  const below = Object.keys(found.manifest.dependencies ?? {}).flatMap((other) =>
    sourcesOf(root, other, seen),
  );
  return [
    ...beside.map((file) => join(found.folder, file)),
    ...filesIn(join(found.folder, 'src')),
    ...below,
  ];
}

/** The folders that pnpm makes beside each manifest. */
function linksOf(root) {
  return projectsOf(root).flatMap(({ folder, manifest }) =>
    Object.keys({ ...manifest.dependencies, ...manifest.devDependencies }).map((name) =>
      join(folder, 'node_modules', name, 'package.json'),
    ),
  );
}

const stampsOf = (root) => join(root, 'node_modules', '.cache', 'paylink-stamps');

const packagesOf = (root) => projectsIn(join(root, 'packages'));

const projectsOf = (root) =>
  ['packages', 'examples']
    .flatMap((folder) => projectsIn(join(root, folder)))
    .concat(projectAt(join(root, 'test')));

const projectsIn = (folder) =>
  readdirSync(folder)
    .map((name) => join(folder, name))
    .filter((path) => existsSync(join(path, 'package.json')))
    .map(projectAt);

const projectAt = (folder) => ({
  folder,
  manifest: JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')),
});

const inRoot = (root, names) => names.map((name) => join(root, name));

function filesIn(folder) {
  if (!existsSync(folder)) return [];
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((file) => file.isFile())
    .map((file) => join(file.parentPath, file.name));
}

function hashOf(root, paths, ...more) {
  const hash = createHash('sha256').update(JSON.stringify(more));
  for (const path of paths.sort()) {
    const content = existsSync(path)
      ? createHash('sha256').update(readFileSync(path)).digest('hex')
      : 'absent';
    hash.update(`${relative(root, path)}\0${content}\n`);
  }
  return hash.digest('hex');
}
