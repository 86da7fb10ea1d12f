/** The rules of the sources that no compiler holds: layers, sizes, defaults. */
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { packageFolders } from './package-folders.js';
import { graphOf, importsOf, sourcesOf } from './sources.js';

/** The most lines of an adapter. Those of 125 serve two hosts, or a host with modules. */
const ADAPTERS = {
  express: 90,
  fastify: 90,
  koa: 90,
  hono: 125,
  next: 125,
  nest: 125,
  lambda: 125,
};

/** The doors of core. `internal` is for our own packages alone. */
const CORE = ['@paylink/core', '@paylink/core/internal'];
const HOSTS = [...CORE, '@paylink/node', '@paylink/fetch'];
/**
 * The doors of other packages that each package may import. The proof (core and the adapters) knows
 * nothing of the money (payments), and no adapter imports another.
 */
const DOORS: Readonly<Record<string, readonly string[]>> = {
  core: [],
  node: CORE,
  fetch: CORE,
  ...Object.fromEntries(Object.keys(ADAPTERS).map((name) => [name, HOSTS])),
  payments: CORE,
  client: CORE,
  testing: ['@paylink/payments'],
  emulator: CORE,
  cli: [
    ...[...CORE, '@paylink/core/diagnose', '@paylink/testing', '@paylink/testing/internal'],
    '@paylink/testing/schedules/internal',
    ...['@paylink/client', '@paylink/emulator', '@paylink/payments'],
  ],
};
/** A command loads these by `import()` when it runs. */
const LAZY_IN_CLI = /^(@paylink\/|string-width$)/;

/** The folder of a file, below `src`. Files beside the folders are the package's own front. */
const folderOf = (file: string): string => (file.includes('/') ? file.split('/')[0]! : '');

function foldersOf(imports: ReadonlyMap<string, string[]>): Map<string, string[]> {
  const folders = new Map<string, string[]>();
  for (const [file, targets] of imports) {
    const others = targets
      .map(folderOf)
      .filter((other) => other !== '' && other !== folderOf(file));
    if (folderOf(file) !== '')
      folders.set(folderOf(file), [...(folders.get(folderOf(file)) ?? []), ...others]);
  }
  return folders;
}

/** Returns the way round of a circle, or undefined. */
function circleIn(graph: ReadonlyMap<string, readonly string[]>): string | undefined {
  const ended = new Set<string>();
  const visit = (at: string, way: readonly string[]): string | undefined => {
    if (way.includes(at)) return [...way.slice(way.indexOf(at)), at].join(' → ');
    if (ended.has(at)) return undefined;
    for (const next of graph.get(at) ?? []) {
      const circle = visit(next, [...way, at]);
      if (circle !== undefined) return circle;
    }
    ended.add(at);
    return undefined;
  };
  for (const start of graph.keys()) {
    const circle = visit(start, []);
    if (circle !== undefined) return circle;
  }
  return undefined;
}

describe.each(packageFolders)('packages/%s', (name) => {
  const sources = sourcesOf(name);
  const imports = graphOf(sources);
  it('imports only its doors of the other packages, and those by name', () => {
    expect(Object.keys(DOORS)).toContain(name);
    const refused = [...sources].flatMap(([file, text]) =>
      importsOf(file, text)
        .filter(({ specifier }) =>
          specifier.startsWith('@paylink/')
            ? !DOORS[name]!.includes(specifier)
            : /^(\.\.\/)+([a-z-]+\/)+(src|dist)\//.test(specifier),
        )
        .map(({ specifier }) => `${file}: ${specifier}`),
    );
    expect(refused).toEqual([]);
  });

  it('has no circle of files, types included', () => {
    expect(imports.size).toBeGreaterThan(0);
    expect(circleIn(imports)).toBeUndefined();
  });

  it('has no arrow back up from a folder to another', () => {
    expect(circleIn(foldersOf(imports))).toBeUndefined();
  });
});

it('packages/cli loads other packages when a command runs', () => {
  const sources = sourcesOf('cli');
  const eager = new Set(['main.ts']);
  for (const file of eager) {
    for (const { specifier, kind } of importsOf(file, sources.get(file)!)) {
      if (kind !== 'eager') continue;
      expect(specifier, file).not.toMatch(LAZY_IN_CLI);
      const target = join(dirname(file), specifier.replace(/\.js$/, '.ts'));
      if (sources.has(target)) eager.add(target);
    }
  }
  expect(eager.size).toBeGreaterThan(30);
});

describe.each(Object.entries(ADAPTERS))('the adapter %s', (name, most) => {
  const sources = [...sourcesOf(name)];

  it(`has at most ${most} lines`, () => {
    const lines = sources.reduce((sum, [, text]) => sum + text.trimEnd().split('\n').length, 0);
    expect(lines).toBeLessThanOrEqual(most);
  });

  it('holds no default of an option', { tags: 'P19' }, () => {
    const defaults = sources.flatMap(([file, text]) =>
      [...text.matchAll(/(?:\?\?\s*\d[\d_]*|\w\s=\s(?:\d[\d_]*|'[^']*'))\s*[,)}]/g)].map(
        ([found]) => `${file}: ${found}`,
      ),
    );
    expect(defaults).toEqual([]);
  });
});
