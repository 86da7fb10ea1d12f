import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { packageFolders, PACKAGES } from './package-folders.js';
import { SOURCE } from '../../scripts/source.mjs';

type Target = string | { readonly [condition: string]: Target };

interface Manifest {
  readonly exports: Readonly<Record<string, Target>>;
  readonly imports?: Readonly<Record<string, Target>>;
  readonly scripts: Readonly<Record<string, string>>;
}

const manifests = packageFolders.map((name) => {
  const text = readFileSync(join(PACKAGES, name, 'package.json'), 'utf8');
  return [name, JSON.parse(text) as Manifest] as const;
});

const doors = manifests.flatMap(([name, { exports, imports = {} }]) =>
  Object.entries({ ...exports, ...imports })
    .filter(([door]) => door !== './package.json')
    .map(([door, target]) => [name, door, target] as const),
);

/** Maps a built export to its sources, with the same conditions as an `import`. */
function sourceOf(target: Target): Target {
  if (typeof target === 'string')
    return target.replace('./dist/', './src/').replace(/\.js$/, '.ts');
  const { import: esm, types, [SOURCE]: source, ...conditions } = target;
  if (esm !== undefined) return sourceOf(esm);
  const chosen = Object.entries(conditions).map(
    ([condition, file]) => [condition, sourceOf(file)] as const,
  );
  return chosen.length === 1 ? chosen[0]![1] : Object.fromEntries(chosen);
}

function filesOf(target: Target): string[] {
  return typeof target === 'string' ? [target] : Object.values(target).flatMap(filesOf);
}

describe.each(doors)('the entry point of packages/%s at %s', (name, _, target) => {
  it('has the condition @paylink/source first, with the source of each built file', () => {
    expect(Object.keys(target)[0]).toBe(SOURCE);
    const source = (target as Record<string, Target>)[SOURCE]!;
    expect(JSON.stringify(source)).toBe(JSON.stringify(sourceOf(target)));
    expect(filesOf(source).filter((file) => !existsSync(join(PACKAGES, name, file)))).toEqual([]);
  });
});

it.each(manifests)('packages/%s has the common scripts', (name, { scripts }) => {
  expect(scripts).toMatchObject({
    build: 'tsup',
    test: `vitest run --root ../.. --project !built packages/${name}/`,
    prepack: 'node ../../scripts/manifest.mjs prepack',
    postpack: 'node ../../scripts/manifest.mjs postpack',
  });
});
