import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';

const docs = new URL('../../docs/', import.meta.url);
const french = readdirSync(new URL('fr/', docs), { recursive: true, encoding: 'utf8' })
  .filter((path) => path.endsWith('.md') && path !== 'index.md')
  .sort();

const read = (path: string): string => readFileSync(new URL(path, docs), 'utf8');
const blocksOf = (path: string): string[] =>
  Array.from(read(path).matchAll(/^```.*?^```$/gms), ([block]) => block);
const headingsOf = (path: string): number => read(path).match(/^#{2,3} /gm)?.length ?? 0;

describe('a page in French', () => {
  it('exists for each quick start, going live, the runbook and the errors', () => {
    const quickStarts = readdirSync(new URL('start/', docs)).map((name) => `start/${name}`);
    expect(french).toEqual(
      expect.arrayContaining([...quickStarts, 'going-live.md', 'runbook.md', 'errors.md']),
    );
  });

  it('has the same anchor for each error code', () => {
    const codesOf = (path: string): string[] =>
      Array.from(read(path).matchAll(/^### ([a-z_]+)$/gm), ([, code]) => code!);
    expect(codesOf('fr/errors.md')).toEqual(codesOf('errors.md'));
  });

  it.each(french)('has the code and the sections of the English page: %s', (path) => {
    expect(blocksOf(`fr/${path}`)).toEqual(blocksOf(path));
    expect(headingsOf(`fr/${path}`)).toBe(headingsOf(path));
  });
});
