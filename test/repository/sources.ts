/** The sources of the packages, and the modules that they import. */
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { parseSync } from 'oxc-parser';
import { PACKAGES } from './package-folders.js';

export interface Import {
  readonly specifier: string;
  /** `eager` loads a module with its importer, `lazy` by `import()`, and `type` never. */
  readonly kind: 'eager' | 'lazy' | 'type';
}

/** Reads the sources of a package, by their path below `src`. */
export function sourcesOf(name: string): Map<string, string> {
  const root = join(PACKAGES, name, 'src');
  const files = readdirSync(root, { recursive: true, encoding: 'utf8' })
    .filter((file) => /\.tsx?$/.test(file))
    .map((file) => file.replaceAll('\\', '/'));
  return new Map(files.map((file) => [file, readFileSync(join(root, file), 'utf8')]));
}

/** Parses the imports of a source: statements, re-exports, `import()` and imported types. */
export function importsOf(file: string, text: string): Import[] {
  const { staticImports, staticExports, dynamicImports } = parseSync(file, text).module;
  const kindOf = (entries: readonly { isType: boolean }[]): Import['kind'] =>
    entries.length > 0 && entries.every(({ isType }) => isType) ? 'type' : 'eager';
  return [
    ...staticImports.map(({ moduleRequest, entries }) => ({
      specifier: moduleRequest.value,
      kind: kindOf(entries),
    })),
    ...staticExports.flatMap(({ entries }) =>
      entries.flatMap(({ moduleRequest, isType }) =>
        moduleRequest === null
          ? []
          : { specifier: moduleRequest.value, kind: kindOf([{ isType }]) },
      ),
    ),
    ...dynamicImports.map(({ moduleRequest: { start, end } }) => ({
      specifier: text.slice(start, end).replace(/^['"`]|['"`]$/g, ''),
      kind: 'lazy' as const,
    })),
    ...[...text.matchAll(/(?<!await )\bimport\('([^']+)'\)\./g)].map(([, specifier]) => ({
      specifier: specifier!,
      kind: 'type' as const,
    })),
  ];
}

/** Returns the sources of the package that each source imports, types included. */
export function graphOf(sources: ReadonlyMap<string, string>): Map<string, string[]> {
  const byStem = new Map([...sources.keys()].map((file) => [file.replace(/\.tsx?$/, ''), file]));
  return new Map(
    [...sources].map(([file, text]) => {
      const targets = importsOf(file, text)
        .filter(({ specifier }) => specifier.startsWith('.'))
        .map(({ specifier }) => normalize(join(dirname(file), specifier)).replaceAll('\\', '/'))
        .map((target) => byStem.get(target.replace(/\.js$/, '')));
      return [file, targets.filter((target) => target !== undefined)];
    }),
  );
}
