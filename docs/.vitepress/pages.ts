/**
 * Which pages there are, and where each stands in the sidebar. A new page needs its place in
 * GROUPS, and nothing else.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const DOCS = fileURLToPath(new URL('..', import.meta.url));

/** A folder that reference.ts writes: the packages' READMEs, and the API from the docstrings. */
export const REFERENCE = 'reference';

export type Locale = 'en' | 'fr';

export interface Group {
  readonly text: Readonly<Record<Locale, string>>;
  /**
   * Paths below docs/ without `.md`. One that ends in `/*` is a folder, in the order of the
   * alphabet.
   */
  readonly pages: readonly string[];
  /** In a sidebar of the reference's own: too long to stand under the guides. */
  readonly isReference?: true;
  /** Whole in the sidebar of its own pages. Elsewhere the first page stands for all. */
  readonly isFolded?: true;
}

export const GROUPS: readonly Group[] = [
  {
    text: { en: 'Start', fr: 'Démarrer' },
    pages: [
      'express',
      'supabase',
      'fastify',
      'koa',
      'hono',
      'next-app',
      'next-pages',
      'nest',
      'lambda',
      'node',
      'fetch',
    ].map((host) => `start/${host}`),
    isFolded: true,
  },
  {
    text: { en: 'Guides', fr: 'Guides' },
    pages: [
      'how-it-works',
      'testing',
      'prove-your-credit',
      'docker',
      'serverless',
      'queues',
      'better-auth',
      'migration',
      'faq',
    ],
  },
  {
    text: { en: 'Databases', fr: 'Bases de données' },
    pages: ['databases', 'databases/*'],
  },
  {
    text: { en: 'Operate', fr: 'Exploitation' },
    pages: ['going-live', 'schedule', 'observability', 'runbook', 'errors', 'diagnose'],
  },
  {
    text: { en: 'Reference', fr: 'Référence' },
    pages: ['hosts', 'service', 'writing-an-adapter', 'semver'],
  },
  {
    text: { en: 'Why', fr: 'Pourquoi' },
    pages: [
      'guarantees',
      'no-table',
      'security',
      'performance',
      'comparison',
      'skill',
      'architecture',
    ],
  },
  {
    text: { en: 'Packages', fr: 'Paquets' },
    pages: [`${REFERENCE}/overview`, `${REFERENCE}/*`],
    isReference: true,
  },
  { text: { en: 'API', fr: 'API' }, pages: [`${REFERENCE}/api/*`], isReference: true },
];

/** The front pages, which no sidebar lists. */
const FRONT = ['index', 'fr/index'];

/**
 * Folders of docs/ without pages. Readers of the repository use the README of the pictures.
 */
export const NO_PAGES = ['screenshots', 'node_modules', 'public', '.vitepress'];

/** Every page, by its path below docs/ without `.md`. */
export function pagesIn(folder: string = DOCS): string[] {
  const walk = (below: string): string[] =>
    readdirSync(join(folder, below), { withFileTypes: true }).flatMap((entry) => {
      const path = `${below}${entry.name}`;
      if (entry.isDirectory()) return NO_PAGES.includes(entry.name) ? [] : walk(`${path}/`);
      return path.endsWith('.md') ? [path.slice(0, -'.md'.length)] : [];
    });
  return walk('').sort();
}

export interface PlacedGroup extends Omit<Group, 'text' | 'pages'> {
  readonly text: string;
  readonly pages: readonly string[];
}

/**
 * The groups of a language with those of their pages that there are; a group without a page is
 * left out.
 */
export function groupsOf(locale: Locale, pages: readonly string[]): PlacedGroup[] {
  const prefix = locale === 'en' ? '' : `${locale}/`;
  const there = (path: string): string[] => {
    const wanted = `${prefix}${path}`;
    if (!wanted.endsWith('/*')) return pages.includes(wanted) ? [wanted] : [];
    const folder = wanted.slice(0, -1);
    return pages.filter(
      (page) => page.startsWith(folder) && !page.slice(folder.length).includes('/'),
    );
  };
  return GROUPS.map(({ text, pages: order, ...rest }) => ({
    ...rest,
    text: text[locale],
    pages: [...new Set(order.flatMap(there))],
  })).filter((group) => group.pages.length > 0);
}

/** Pages that no reader would find: they are in no group. */
export function pagesWithoutPlace(pages: readonly string[]): string[] {
  const placed = new Set([
    ...FRONT,
    ...(['en', 'fr'] as const).flatMap((locale) =>
      groupsOf(locale, pages).flatMap((group) => group.pages),
    ),
  ]);
  return pages.filter((page) => !placed.has(page));
}

/** Returns the `title` of the frontmatter, or the first heading. @throws Error without either */
export function titleOf(page: string): string {
  const text = readFileSync(join(DOCS, `${page}.md`), 'utf8');
  const [, title] =
    /^---\n(?:.*\n)*?title: ['"]?(.+?)['"]?\n(?:.*\n)*?---\n/.exec(text) ??
    /^# (.+)$/m.exec(text) ??
    [];
  if (title === undefined) throw new Error(`docs/${page}.md has no heading "# …"`);
  return title.replaceAll('`', '').replaceAll('\\', '');
}

const isApi = (page: string): boolean =>
  page.startsWith(`${REFERENCE}/api/`) && page !== `${REFERENCE}/api/index`;

/**
 * The title in the head of a page's HTML, where its heading is another page's too: a package has
 * its README and its API.
 */
export function titleInHead(page: string): string | undefined {
  if (page === `${REFERENCE}/overview`) return 'Overview';
  return isApi(page) ? `API of ${titleOf(page)}` : undefined;
}

/** Returns the `description` of the frontmatter, or the start of the first paragraph. */
export function descriptionOf(page: string): string {
  if (isApi(page)) return `The API of ${titleOf(page)}, from its docstrings.`;
  if (page === `${REFERENCE}/api/index`) return 'The API of each package, from its docstrings.';
  const text = readFileSync(join(DOCS, `${page}.md`), 'utf8');
  const [frontmatter = ''] = /^---\n.*?\n---\n/s.exec(text) ?? [];
  const [, description] = /^description: ['"]?(.+?)['"]?$/m.exec(frontmatter) ?? [];
  if (description !== undefined) return description;
  const paragraph = text
    .slice(frontmatter.length)
    .replace(/^```.*?^```$/gms, '')
    .split(/\n{2,}/)
    .find((block) => /^[\p{L}`[*]/u.test(block));
  if (paragraph === undefined) throw new Error(`docs/${page}.md has no paragraph to describe it`);
  const words = paragraph
    .replace(/\]\([^)]*\)/g, ']')
    .replace(/[`*[\]\\]|&nbsp;/g, '')
    .replace(/\s+/g, ' ');
  return words.length <= 160 ? words : `${words.slice(0, words.lastIndexOf(' ', 159))}…`;
}
