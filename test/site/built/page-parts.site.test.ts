/** Checks the site's pages without a browser, and their weight. */
import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { read, readBytes, filesWith } from './built-site.js';

const pages = new Map(
  filesWith('.html')
    .filter((path) => path !== '404.html')
    .map((path) => [path, read(path)]),
);

const all = (html: string, pattern: RegExp): string[] =>
  Array.from(html.matchAll(pattern), ([, part]) => part!);

/**
 * Returns the levels of the page's own headings, in order. The menus' headings come before and are
 * equal everywhere.
 */
function headingsOf(html: string): number[] {
  const [, main = ''] = /<main\b[^>]*>(.*?)<\/main>/s.exec(html) ?? [];
  return all(main, /<h([1-6])[\s>]/g).map(Number);
}

/** Returns the faults in the parts that screen readers, search engines and phones use. */
function faultsOf(path: string, html: string): string[] {
  const faults: string[] = [];
  const lang = path.startsWith('fr/') ? 'fr' : 'en';
  if (!all(html, /<html lang="([a-z]+)[-"]/g).includes(lang))
    faults.push(`the language is not ${lang}`);
  const titles = all(html, /<title>([^<]*)<\/title>/g);
  if (titles.length !== 1 || titles[0]!.trim() === '')
    faults.push(`${titles.length} titles: ${titles.join()}`);
  const descriptions = all(html, /<meta name="description" content="([^"]*)"/g);
  if (descriptions.length !== 1 || descriptions[0]!.length < 20 || descriptions[0]!.length > 200)
    faults.push(`a description of 20 to 200 characters is missing: ${descriptions.join()}`);
  if (!/<meta name="viewport" content="[^"]*width=device-width/.test(html))
    faults.push('the viewport is not said');
  const headings = headingsOf(html);
  if (headings.filter((level) => level === 1).length !== 1 || headings[0] !== 1)
    faults.push(`not one first heading: ${headings.join()}`);
  const skipped = headings.findIndex(
    (level, index) => index > 0 && level > headings[index - 1]! + 1,
  );
  if (skipped !== -1) faults.push(`heading ${skipped + 1} skips a level: ${headings.join()}`);
  if (/<img(?![^>]*\salt[\s=>])[^>]*>/.test(html))
    faults.push('a picture has no text in its place');
  if (/<th\b[^>]*>\s*<\/th>/.test(html)) faults.push('a column of a table has no name');
  return faults;
}

/** Columns of code that fit beside both menus, on a screen of 1280 pixels. */
const COLUMNS = 101;

/** Returns the lines of code that such a screen cuts. */
const cutLines = (html: string): string[] =>
  all(html, /<pre\b[^>]*>(.*?)<\/pre>/gs).flatMap((block) =>
    block
      .replace(/<[^>]*>/g, '')
      .replace(/&(?:lt|gt|quot|amp|#39);/g, '_')
      .split('\n')
      .filter((line) => line.length > COLUMNS),
  );

/** Returns the page, and the files that a browser requests before it shows the page. */
function filesOf(path: string, html: string): string[] {
  const loaded = Array.from(html.matchAll(/<(?:script|link)\b[^>]*>/g), ([tag]) => tag)
    .filter(
      (tag) =>
        tag.startsWith('<script') || /\srel="(?:stylesheet|modulepreload|preload|icon)/.test(tag),
    )
    .flatMap((tag) => all(tag, /\s(?:src|href)="([^"]+)"/g));
  return [
    path,
    ...new Set(
      loaded.map((target) =>
        decodeURIComponent(new URL(target, 'http://site.test/').pathname.slice(1)),
      ),
    ),
  ];
}

const compressed = new Map<string, number>();

/** Returns the bytes as a compressing host sends them. */
function weightOf(file: string): number {
  const known = compressed.get(file);
  if (known !== undefined) return known;
  const weight = gzipSync(readBytes(file)).length;
  compressed.set(file, weight);
  return weight;
}

describe('a page of the built site', () => {
  it.each([...pages])(
    'has the right language, title, description and headings: %s',
    (path, html) => {
      expect(faultsOf(path, html)).toEqual([]);
    },
  );

  it('is reported without them', () => {
    expect(
      faultsOf(
        'fr/index.html',
        '<html lang="en-US"><main><h1>A</h1><h3>B</h3><img src="a.png"><th></th></main>',
      ),
    ).toHaveLength(7);
    expect(
      faultsOf('index.html', '<html lang="en-US"><main><h2>A</h2><h1>B</h1><h1>C</h1></main>'),
    ).toContain('not one first heading: 2,1,1');
  });

  it('cuts no line of code on a screen of 1280 pixels', () => {
    const cut = Array.from(pages, ([path, html]) => [path, cutLines(html)] as const);
    expect(cut.filter(([, lines]) => lines.length > 0)).toEqual([]);
    expect(cutLines(`<pre><code>${'<b>&lt;</b>'.repeat(COLUMNS + 1)}</code></pre>`)).toHaveLength(
      1,
    );
  });

  it('hides the name of a file with its tab', () => {
    expect(pages.get('hosts.html')).toContain('class="vp-code-group');
    expect(pages.get('hosts.html')).not.toMatch(/class="blocks"><div class="file"/);
  });

  it('has a unique title and description', () => {
    for (const pattern of [
      /<title>([^<]*)<\/title>/g,
      /<meta name="description" content="([^"]*)"/g,
    ]) {
      const texts = Array.from(
        pages,
        ([path, html]) => `${path.startsWith('fr/') ? 'fr' : 'en'} ${all(html, pattern)[0]!}`,
      );
      expect(texts.filter((text, index) => texts.indexOf(text) !== index)).toEqual([]);
    }
  });

  it('stays within the weight budget', () => {
    const weights = Array.from(pages, ([path, html]) => {
      const files = filesOf(path, html);
      expect(files.length).toBeGreaterThan(2);
      return { path, bytes: files.reduce((sum, file) => sum + weightOf(file), 0) };
    }).sort((a, b) => b.bytes - a.bytes);
    const kilobytes = ({ path, bytes }: { path: string; bytes: number }): string =>
      `${path}: ${Math.round(bytes / 1_000)} kB`;
    console.log(
      `${weights.length} pages, the heaviest ${kilobytes(weights[0]!)}, the median ${kilobytes(weights[weights.length >> 1]!)}`,
    );
    expect(weights.filter(({ bytes }) => bytes > 130_000).map(kilobytes)).toEqual([]);
  });
});
