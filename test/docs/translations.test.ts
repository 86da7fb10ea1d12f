import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';

const docs = new URL('../../docs/', import.meta.url);
const french = readdirSync(new URL('fr/', docs), { recursive: true, encoding: 'utf8' })
  .filter((path) => path.endsWith('.md') && path !== 'index.md')
  .sort();

const read = (path: string): string => readFileSync(new URL(path, docs), 'utf8');
const blocksOf = (path: string): string[] => Array.from(read(path).matchAll(/^```.*?^```$/gms), ([block]) => block);
const headingsOf = (path: string): number => read(path).match(/^#{2,3} /gm)?.length ?? 0;

describe('a page in French', () => {
  it('is there for each quick start, for going live and for the runbook', () => {
    const quickStarts = readdirSync(new URL('start/', docs)).map((name) => `start/${name}`);
    expect(french).toEqual(expect.arrayContaining([...quickStarts, 'going-live.md', 'runbook.md']));
  });

  it.each(french)('has the code and the sections of the English one: %s', (path) => {
    expect(blocksOf(`fr/${path}`)).toEqual(blocksOf(path));
    expect(headingsOf(`fr/${path}`)).toBe(headingsOf(path));
  });
});

describe('the quick starts', () => {
  const pages = readdirSync(new URL('start/', docs)).map((name) => [name, read(`start/${name}`)] as const);
  /** The file of a page that its first line names, without that line. */
  const fileOf = (page: string, name: string): string | undefined =>
    new RegExp(`^\`\`\`ts\\n// ${name}\\n(.*?)^\`\`\``, 'ms').exec(page)?.[1];

  it.each([
    ['shop\\.ts', 8],
    ['lib/shop\\.ts', 2],
  ])('have one %s, on each host that has it', (name, count) => {
    const copies = pages.map(([, page]) => fileOf(page, name)).filter((copy) => copy !== undefined);
    expect(copies).toHaveLength(count);
    expect(new Set(copies).size).toBe(1);
  });

  it.each(pages)('end with the same three tests: %s', (_name, page) => {
    const [, tests] = /^(test\('credits a paid order.*?)^```$/ms.exec(page) ?? [];
    expect(tests).toBe(/^(test\('credits a paid order.*?)^```$/ms.exec(pages[0]![1])?.[1]);
    expect(tests?.match(/^test\(/gm)).toHaveLength(3);
  });
});
