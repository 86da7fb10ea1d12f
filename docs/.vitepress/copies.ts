/**
 * The site for readers that are programs: each page as markdown beside its HTML, `llms.txt` and
 * `llms-full.txt`.
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, posix } from 'node:path';
import { withCode } from './code.js';
import { withSiteLinks } from './links.js';
import { DOCS, groupsOf, REFERENCE, titleOf } from './pages.js';
import { sourceOf } from './start-pages.js';

const INTRODUCTION = `# Paylink

> Webhook middleware for the Payment Link Service on Node (Express, Fastify, Koa, Hono, Next.js, NestJS, AWS Lambda, node:http and every
> Fetch API host), and the rest of a whole integration: one credit for each order on any database, a client of the service's
> API, signed deliveries and an attack kit for tests, an emulator, a command line.
`;

/** Packages whose options a receiver needs. */
const IN_FULL = [
  'core',
  'payments',
  'client',
  'express',
  'fastify',
  'koa',
  'hono',
  'next',
  'nest',
  'testing',
];
/** Pages for the people who change Paylink, and pages that repeat docstrings. Only linked. */
const NOT_IN_FULL = [
  /^(architecture|performance)$/,
  new RegExp(`^${REFERENCE}/(?!(?:${IN_FULL.join('|')})$)`),
];

/** Returns the rules of AGENTS.md. They come first, because a reader may stop early. */
function rules(): string {
  const [, section] =
    /^(## In an app that takes payments\n.*?)^## /ms.exec(
      readFileSync(join(DOCS, '../AGENTS.md'), 'utf8'),
    ) ?? [];
  if (section === undefined)
    throw new Error('AGENTS.md has no section "In an app that takes payments"');
  return section;
}

/** A page's part that VitePress includes. */
const INCLUDE = /<!--@include: (\S+)-->/g;
/** Words that only the search needs. */
const SEARCH_WORDS = /<!-- search: .*? -->\n+/gs;

function contentOf(page: string): string {
  const path = `docs/${page}.md`;
  const file = join(DOCS, `${page}.md`);
  const read = (part: string): string => readFileSync(join(dirname(file), part), 'utf8');
  const markdown = sourceOf(`${page}.md`, readFileSync(file, 'utf8'))
    .replace(/^---\n.*?\n---\n+/s, '')
    .replace(INCLUDE, (_whole, part: string) => read(part))
    .replace(SEARCH_WORDS, '');
  return withSiteLinks(withCode(markdown, path), path);
}

/** Links of a page, as they must read in a file at the site's root. */
const fromRoot = (markdown: string, page: string): string =>
  !page.includes('/')
    ? markdown
    : markdown.replace(
        /(?<!`)\]\((?!https?:|#|\/)([^)\s#]+)/g,
        (_whole, target: string) => `](${posix.join(posix.dirname(page), target)}`,
      );

export function writeMarkdownCopies(pages: readonly string[], outDir: string): void {
  for (const page of pages) write(join(outDir, `${page}.md`), contentOf(page));
  const groups = groupsOf('en', pages);
  const lists = groups.map(
    ({ text, pages }) =>
      `## ${text}\n\n${pages.map((page) => `- [${titleOf(page)}](${page}.md)`).join('\n')}\n`,
  );
  write(join(outDir, 'llms.txt'), [INTRODUCTION, ...lists].join('\n'));
  const full = groups
    .flatMap((group) => group.pages)
    .filter((page) => !NOT_IN_FULL.some((pattern) => pattern.test(page)));
  write(
    join(outDir, 'llms-full.txt'),
    [
      INTRODUCTION,
      fromRoot(rules(), 'reference/overview'),
      ...full.map((page) => `<!-- ${page}.md -->\n\n${fromRoot(contentOf(page), page)}`),
    ].join('\n'),
  );
}

function write(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
}
