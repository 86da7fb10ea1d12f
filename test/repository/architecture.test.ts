/** The rules of the sources that no compiler holds: layers, sizes, defaults. */
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize, relative } from 'node:path';
import { describe, expect, it } from 'vitest';
import { packageFolders, PACKAGES } from './package-folders.js';

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

const IMPORT = /(?:from|import)\s*\(?\s*'(\.[^']+)'/g;

/** The sources of a package, each with the sources that it imports, types included. */
function importsOf(name: string): Map<string, string[]> {
  const root = join(PACKAGES, name, 'src');
  const files = readdirSync(root, { recursive: true, encoding: 'utf8' })
    .filter((file) => /\.tsx?$/.test(file))
    .map((file) => file.replaceAll('\\', '/'));
  return new Map(
    files.map((file) => {
      const text = readFileSync(join(root, file), 'utf8');
      const targets = [...text.matchAll(IMPORT)].map(([, path]) => {
        const target = normalize(join(dirname(file), path!)).replaceAll('\\', '/');
        return files.find((each) => each.replace(/\.tsx?$/, '') === target.replace(/\.js$/, ''));
      });
      return [file, targets.filter((target) => target !== undefined)];
    }),
  );
}

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
  const imports = importsOf(name);

  it('has no circle of files, types included', () => {
    expect(imports.size).toBeGreaterThan(0);
    expect(circleIn(imports)).toBeUndefined();
  });

  it('has no arrow back up from a folder to another', () => {
    expect(circleIn(foldersOf(imports))).toBeUndefined();
  });
});

describe.each(Object.entries(ADAPTERS))('the adapter %s', (name, most) => {
  const root = join(PACKAGES, name, 'src');
  const sources = readdirSync(root, { recursive: true, encoding: 'utf8' })
    .filter((file) => /\.tsx?$/.test(file))
    .map(
      (file) => [relative(root, join(root, file)), readFileSync(join(root, file), 'utf8')] as const,
    );

  it(`has at most ${most} lines`, () => {
    const lines = sources.reduce((sum, [, text]) => sum + text.trimEnd().split('\n').length, 0);
    expect(lines).toBeLessThanOrEqual(most);
  });

  it('P19 holds no default of an option', () => {
    const defaults = sources.flatMap(([file, text]) =>
      [...text.matchAll(/(?:\?\?\s*\d[\d_]*|\w\s=\s(?:\d[\d_]*|'[^']*'))\s*[,)}]/g)].map(
        ([found]) => `${file}: ${found}`,
      ),
    );
    expect(defaults).toEqual([]);
  });
});
