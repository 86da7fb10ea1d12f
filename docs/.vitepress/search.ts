/**
 * The search: what it indexes, and which words lead to a section that does not contain them. A page
 * names such words in a comment below a heading:
 *
 *     <!-- search: webhook not received, no notification -->
 */
import MiniSearch, { type Options } from 'minisearch';
import type { DefaultTheme, Plugin } from 'vitepress';
import { DOCS, pagesIn, type Locale } from './pages.js';
import { sourceOf } from './start-pages.js';

interface Section {
  readonly anchor: string;
  /** The headings above the section, and its own. */
  readonly titles: string[];
  readonly text: string;
}

interface Entry {
  readonly id: string;
  readonly title: string;
  readonly titles: readonly string[];
  readonly text: string;
  readonly words: string;
}

// VitePress passes these functions to the browser as text, so each stands alone.
const OPTIONS = {
  fields: ['title', 'titles', 'text', 'words'],
  storeFields: ['title', 'titles'],
  processTerm: (term: string) => {
    const plain = term
      .toLowerCase()
      .normalize('NFD')
      .replace(/[\u0300-\u036f]/g, '');
    const isCommon =
      /^(an?|and|are|can|do|does|for|how|i|in|is|it|my|not|of|on|or|the|to|what|why|with|au|aux|comment|d|dans|de|des|du|en|est|et|il|je|l|la|le|les|mon|ma|mes|n|ne|ou|par|pas|pour|qu|que|qui|s|sur|un|une)$/;
    return isCommon.test(plain) ? null : plain;
  },
} as const satisfies Options<Entry>;

const SEARCH_OPTIONS = {
  fuzzy: 0.2,
  boost: { words: 4, title: 3, titles: 1.5, text: 1 },
  // From French, translated pages come first.
  boostDocument: (id: string, _term: string, stored?: Record<string, unknown>) =>
    (id.includes('/reference/') ? 0.5 : 1) *
    (String(stored?.['title']).endsWith(' (en)') ? 0.4 : 1),
};

const HEADING =
  /<h(\d)[^>]*>((?:(?!<\/h\d>).)*?)<a [^>]*?href="#([^"]*)"[^>]*>.*?<\/a>\s*<\/h\1>/gs;
/** A row with an anchor, such as the row of an error code. */
const ROW = /<tr>\s*<td[^>]*><a id="([^"]+)"><\/a>(.*?)<\/tr>/gs;
const WORDS = /<!-- search: (.*?) -->/gs;

const textOf = (html: string): string =>
  html
    .replace(/<[^>]*>/g, ' ')
    .replace(/&(?:lt|gt|quot|amp|#39);/g, ' ')
    .replace(/\s+/g, ' ')
    .trim();

const wordsOf = (html: string): string =>
  Array.from(html.matchAll(WORDS), ([, text]) => text).join(' ');

/** Splits a rendered page by its headings, and its tables by the rows that have an anchor. */
function sectionsOf(html: string): (Section & Pick<Entry, 'words'>)[] {
  const headings = [...html.matchAll(HEADING)];
  let above: string[] = [];
  return headings.flatMap((match, position) => {
    const { 0: whole, 1: level, 2: heading, 3: anchor, index } = match;
    const content = html.slice(index + whole.length, headings[position + 1]?.index);
    above = [...above.slice(0, Number(level) - 1), textOf(heading!)];
    const rows = Array.from(content.matchAll(ROW), ([, id, cells]) => ({
      anchor: id!,
      titles: [...above, id!],
      text: textOf(cells!),
      words: wordsOf(cells!),
    }));
    const rest = content.replace(ROW, '');
    return [{ anchor: anchor!, titles: above, text: textOf(rest), words: wordsOf(rest) }, ...rows];
  });
}

const START = /^(?:fr\/)?start\//;

/** A quick start is the first answer to the name of its host, as people write it. */
const startWords = (page: string): string =>
  START.test(page) ? `${page.replace(START, '')} ${page.replace(/^.*\/next-.*/, 'nextjs')}` : '';

/** The steps that all quick starts share are found once, on the first of them. */
const isFoundByTitleAlone = (page: string): boolean =>
  START.test(page) && !page.endsWith('/express');

/**
 * Collects the sections that VitePress splits, and makes the index of each language from them. The
 * French one also has the English pages that nobody has translated, marked as such.
 */
export function createSearch(base: string) {
  const entries = new Map<string, Entry>();

  const splitIntoSections = (file: string, html: string): Section[] => {
    const page = file.slice(DOCS.length, -'.md'.length);
    const address = `${base}${`${page}.html`.replace(/(^|\/)index\.html$/, '$1')}`;
    const sections = sectionsOf(html).slice(0, isFoundByTitleAlone(page) ? 1 : undefined);
    for (const [position, { anchor, titles, text, words: own }] of sections.entries()) {
      const id = `${address}#${anchor}`;
      const words = position === 0 ? `${own} ${startWords(page)}` : own;
      entries.set(id, { id, title: titles.at(-1)!, titles: titles.slice(0, -1), text, words });
    }
    return sections;
  };

  const indexOf = (locale: Locale): MiniSearch<Entry> => {
    const french = `${base}fr/`;
    const pages = pagesIn();
    const index = new MiniSearch<Entry>(OPTIONS);
    for (const entry of entries.values()) {
      const isFrench = entry.id.startsWith(french);
      if (isFrench === (locale === 'fr')) index.add(entry);
      if (isFrench || locale !== 'fr') continue;
      const page = entry.id.slice(base.length).replace(/(?:\.html)?#.*$/, '') || 'index';
      if (!pages.includes(`fr/${page}`)) index.add({ ...entry, title: `${entry.title} (en)` });
    }
    return index;
  };

  const plugin: Plugin = {
    name: 'paylink-search',
    enforce: 'pre',
    load: (id) => {
      const [, locale] = /^\/@localSearchIndex(root|fr)$/.exec(id) ?? [];
      if (locale === undefined) return undefined;
      const index = indexOf(locale === 'fr' ? 'fr' : 'en');
      return `export default ${JSON.stringify(JSON.stringify(index))}`;
    },
  };

  const miniSearch: DefaultTheme.LocalSearchOptions['miniSearch'] = {
    options: OPTIONS,
    searchOptions: SEARCH_OPTIONS,
    _splitIntoSections: splitIntoSections,
  };
  const render: DefaultTheme.LocalSearchOptions['_render'] = (text, env, md) =>
    md.render(sourceOf(env.relativePath, text), env);

  return { plugin, miniSearch, render };
}

/** Opens an index that the site ships, as the browser does. */
export const loadIndex = (json: string): MiniSearch<Entry> =>
  MiniSearch.loadJSON<Entry>(json, { ...OPTIONS, searchOptions: SEARCH_OPTIONS });
