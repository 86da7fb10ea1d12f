import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';

const root = new URL('../../', import.meta.url);
const SKIPPED = new Set(['node_modules', 'dist', '.git', '.vitepress', 'citations.test.ts']);
const contract = readFileSync(new URL('docs/service.md', root), 'utf8');
const clauses = new Set(
  Array.from(contract.matchAll(/^(?:#+ |- \*\*)([\d.]*\d)/gm), ([, clause]) => clause),
);

function* files(folder: URL): Generator<URL> {
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    if (SKIPPED.has(entry.name)) continue;
    if (entry.isDirectory()) yield* files(new URL(`${entry.name}/`, folder));
    else if (/\.(ts|tsx|mjs|md|yml|json)$/.test(entry.name)) yield new URL(entry.name, folder);
  }
}

const sources = ['packages/', 'test/', 'examples/', 'docs/', 'scripts/', 'lab/', '.changeset/']
  .flatMap((folder) => [...files(new URL(folder, root))])
  .concat(new URL('README.md', root))
  .map((file) => [file.pathname.slice(root.pathname.length), readFileSync(file, 'utf8')] as const);

describe('a citation in comments and documents', () => {
  it('names a file of the repository', () => {
    const citing = sources
      .filter(([, text]) => /\b(?:SERVICE|DESIGN|ATTACKS|STYLE|PEERS)\.md\b/.test(text))
      .map(([path]) => path);
    expect(citing).toEqual([]);
  });

  it('names an existing clause of the contract', () => {
    const cited = sources.flatMap(([path, text]) =>
      Array.from(
        text.matchAll(/docs\/service\.md[,:]? (\d[\d.]*\d|\d)/g),
        ([, clause]) => [path, clause] as const,
      ),
    );
    expect(cited.length).toBeGreaterThan(15);
    expect(cited.filter(([, clause]) => !clauses.has(clause))).toEqual([]);
  });
});
