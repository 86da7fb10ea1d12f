/**
 * The site for readers that are programs: each page as markdown beside its HTML, `llms.txt` and
 * `llms-full.txt`.
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { withSiteLinks } from './links.js';
import { DOCS, groupsOf, REFERENCE, titleOf } from './pages.js';

const INTRODUCTION = `# Paylink

> Webhook middleware for the Payment Link Service on Node (Express, Fastify, Koa, Hono, Next.js, NestJS, AWS Lambda, node:http and every
> Fetch API host), and what is needed to build and test a whole integration: stores that credit an order once, a client of the
> service's API, signed deliveries and an attack kit for tests, an emulator, a command line.
`;

/** Packages whose options a receiver needs. */
const IN_FULL = [
  'core',
  'payments',
  'postgres',
  'client',
  'express',
  'fastify',
  'koa',
  'hono',
  'next',
  'nest',
  'testing',
];
/** Long tables, and pages that repeat docstrings. llms.txt only links them. */
const NOT_IN_FULL = [
  ...[
    /^attacks$/,
    /^audit-of-peers$/,
    /^contract-suite$/,
    /^architecture$/,
    /^durability$/,
    /^performance$/,
  ],
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

const contentOf = (page: string): string =>
  withSiteLinks(readFileSync(join(DOCS, `${page}.md`), 'utf8'), `docs/${page}.md`).replace(
    /^---\n.*?\n---\n+/s,
    '',
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
      rules(),
      ...full.map((page) => `<!-- ${page}.md -->\n\n${contentOf(page)}`),
    ].join('\n'),
  );
}

function write(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
}
