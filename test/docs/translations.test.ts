import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { withCode } from '../../docs/.vitepress/code.js';
import { HOSTS, startPage } from '../../docs/.vitepress/start-pages.js';

const docs = new URL('../../docs/', import.meta.url);
const french = readdirSync(new URL('fr/', docs))
  .filter((name) => name.endsWith('.md') && name !== 'index.md')
  .sort();

const read = (path: string): string =>
  withCode(readFileSync(new URL(path, docs), 'utf8'), `docs/${path}`);
const blocksOf = (markdown: string): string[] =>
  Array.from(markdown.matchAll(/^```.*?^```$/gms), ([block]) => block);
/** The text between blocks, without comments and the targets of links. */
const proseOf = (markdown: string): string =>
  markdown.replace(/^```.*?^```$|<!--.*?-->|(?<=\])\([^)]*\)/gms, '');
const withoutTables = (markdown: string): string => markdown.replace(/^\|.*$/gm, '');
const spansOf = (markdown: string): string[] =>
  Array.from(proseOf(markdown).matchAll(/`([^`]+)`/g), ([, code]) => code!);
const figuresOf = (markdown: string): string[] => proseOf(markdown).match(/\d+(?:\.\d+)*/g) ?? [];
/** 10,000 and 10 000 are 10000, and 0,9 is 0.9. */
const inDigits = {
  en: (text: string): string => text.replace(/(?<=\d),(?=\d{3})/g, ''),
  fr: (text: string): string =>
    text.replace(/(?<=\d)[ \u00a0\u202f](?=\d{3}(?!\d))/g, '').replace(/(?<=\d),(?=\d)/g, '.'),
};
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
      Array.from(read(path).matchAll(/^### ([a-z_]+)$|<a id="([a-z_]+)">/gm), ([, heading, row]) =>
        String(heading ?? row),
      );
    expect(codesOf('fr/errors.md')).toEqual(codesOf('errors.md'));
  });

  it.each(french)('has the code and the sections of the English page: %s', (path) => {
    const [en, fr] = [read(path), read(`fr/${path}`)];
    expect(blocksOf(fr)).toEqual(blocksOf(en));
    expect(headingsOf(fr)).toBe(headingsOf(en));
  });

  it.each(french)('has the names and figures of the English page: %s', (path) => {
    const [en, fr] = [read(path), read(`fr/${path}`)];
    expect(spansOf(fr).filter((code) => !en.includes(code))).toEqual([]);
    expect(spansOf(withoutTables(en)).filter((code) => !fr.includes(code))).toEqual([]);
    const [enDigits, frDigits] = [inDigits.en(en), inDigits.fr(fr)];
    expect(figuresOf(frDigits).filter((each) => !figuresOf(enDigits).includes(each))).toEqual([]);
    const inProse = figuresOf(withoutTables(enDigits));
    expect(inProse.filter((each) => !figuresOf(frDigits).includes(each))).toEqual([]);
  });

  it.each(HOSTS)('has the code of the English quick start: %s', async (host) => {
    const [en, fr] = [startPage('en', host), startPage('fr', host)];
    expect(blocksOf(fr)).toEqual(blocksOf(en));
    expect(headingsOf(fr)).toBe(headingsOf(en));
  });
});
