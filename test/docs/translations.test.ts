import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { HOSTS, startPage } from '../../docs/.vitepress/start-pages.js';

const docs = new URL('../../docs/', import.meta.url);
const french = readdirSync(new URL('fr/', docs))
  .filter((name) => name.endsWith('.md') && name !== 'index.md')
  .sort();

const read = (path: string): string => readFileSync(new URL(path, docs), 'utf8');
const blocksOf = (markdown: string): string[] =>
  Array.from(markdown.matchAll(/^```.*?^```$/gms), ([block]) => block);
const headingsOf = (markdown: string): number => markdown.match(/^#{2,3} /gm)?.length ?? 0;

describe('a page in French', () => {
  it('exists for each page that a merchant needs in an emergency', () => {
    expect(french).toEqual(
      expect.arrayContaining([
        'errors.md',
        'faq.md',
        'going-live.md',
        'how-it-works.md',
        'runbook.md',
      ]),
    );
  });

  it('has the same anchor for each error code', () => {
    const codesOf = (path: string): string[] =>
      Array.from(read(path).matchAll(/^### ([a-z_]+)$/gm), ([, code]) => code!);
    expect(codesOf('fr/errors.md')).toEqual(codesOf('errors.md'));
  });

  it.each(french)('has the code and the sections of the English page: %s', (path) => {
    const [en, fr] = [read(path), read(`fr/${path}`)];
    expect(blocksOf(fr)).toEqual(blocksOf(en));
    expect(headingsOf(fr)).toBe(headingsOf(en));
  });

  it.each(HOSTS)('has the code of the English quick start: %s', async (host) => {
    const [en, fr] = [await startPage('en', host), await startPage('fr', host)];
    expect(blocksOf(fr)).toEqual(blocksOf(en));
    expect(headingsOf(fr)).toBe(headingsOf(en));
  });
});
