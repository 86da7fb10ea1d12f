/** Writes the last run's table to docs/hosts.md row by row, so that one host can run alone. */
import { readFile, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { format } from '../../scripts/format.mjs';
import { writeFigure } from '../home-figures.js';
import { hosts } from './hosts.js';
import { HEAD, markdown, rowOf, type HostReport } from './table.js';

const at = (path: string): string => fileURLToPath(new URL(path, import.meta.url));
const PAGE = at('../../docs/hosts.md');

/** Returns the lines between `<!-- name -->` and `<!-- end of name -->`. */
export function betweenMarks(page: string, name: string): string {
  const [, rest] = page.split(`<!-- ${name} -->\n`);
  const [lines] = rest?.split(`<!-- end of ${name} -->`) ?? [];
  if (rest === undefined || lines === undefined || lines === rest)
    throw new Error(`docs/hosts.md has no marks for "${name}"`);
  return lines;
}

/** Replaces the rows of these hosts, and keeps the others. */
export async function writeTable(reports: readonly HostReport[]): Promise<void> {
  let page = await readFile(PAGE, 'utf8');
  page = replaceRows(page, 'tried', HEAD, reports, reports.map(rowOf));
  page = replaceBetween(page, 'limits', limits());
  page = replaceBetween(page, 'sections', sections());
  await writeFile(PAGE, await format(PAGE, page));
  const tried = cellsOf(betweenMarks(page, 'tried')).map(([, , , attacks]) => attacks!);
  writeFigure('attacks', tried[0]!, String(tried.length));
}

/** The hosts of one kind share a block of code with a tab for each. */
const KINDS = {
  'Servers on Node': [
    ...['hono', 'express', 'fastify', 'koa', 'hapi'],
    ...['nest', 'nest-fastify', 'adonis', 'strapi'],
  ],
  Sites: ['next', 'next-pages', 'sveltekit', 'nuxt', 'react-router', 'astro', 'tanstack'],
  'Bun, Deno and Nitro': ['elysia', 'bun', 'deno', 'supabase', 'nitro'],
  'Vercel, Netlify and Cloudflare': ['vercel', 'vercel-node', 'netlify', 'workers', 'next-workers'],
  'AWS, Azure and Google': [
    ...['lambda', 'lambda-powertools', 'express-lambda'],
    ...['azure', 'firebase', 'gcf'],
  ],
} as const;

/** Returns a section per kind: the file of each host that matters, and the notes below. */
export function sections(): string {
  return Object.entries(KINDS)
    .map(([kind, ids]) => {
      const ofKind = ids.map((id) => hosts.find((host) => host.id === id)!);
      const files = ofKind.map(
        ({ id, name, shows }) =>
          `<<< ../lab/hosts/projects/${id}/${shows} [${name.replaceAll('`', '')}]`,
      );
      const notes = ofKind
        .filter(({ note }) => note !== undefined)
        .map(({ name, note }) => `- **${name}:** ${note}`);
      const code = `::: code-group\n\n${files.join('\n')}\n\n:::`;
      return [`### ${kind}`, code, ...(notes.length === 0 ? [] : [notes.join('\n')])].join('\n\n');
    })
    .join('\n\n');
}

/** Returns a row for each limit of a host, with the hosts that have it. */
export function limits(): string {
  const hostsOf = new Map<string, string[]>();
  for (const { name, exceptions = [] } of hosts)
    for (const why of new Set(exceptions.map((exception) => exception.why)))
      hostsOf.set(why, [...(hostsOf.get(why) ?? []), name]);
  const rows = Array.from(hostsOf, ([why, names]) => [names.join('<br>'), sentence(why)]);
  return markdown(['host', 'limit'], rows);
}

const sentence = (why: string): string =>
  `${why[0]!.toUpperCase()}${why.slice(1)}${why.endsWith('.') ? '' : '.'}`;

function replaceBetween(page: string, name: string, lines: string): string {
  const marks = [`<!-- ${name} -->\n`, `<!-- end of ${name} -->`] as const;
  return page.replace(
    `${marks[0]}${betweenMarks(page, name)}${marks[1]}`,
    () => `${marks[0]}\n${lines}\n\n${marks[1]}`,
  );
}

function replaceRows(
  page: string,
  name: string,
  head: readonly string[],
  reports: readonly HostReport[],
  rows: readonly (readonly (string | number)[])[],
): string {
  const old = betweenMarks(page, name);
  const order = hosts.map((host) => host.name);
  const ran = new Set(reports.map((report) => report.name));
  const kept = cellsOf(old).filter(([host = '']) => !ran.has(host) && order.includes(host));
  const all = [...kept, ...rows.map((row) => row.map(String))].sort(
    ([a = ''], [b = '']) => order.indexOf(a) - order.indexOf(b),
  );
  return replaceBetween(page, name, markdown(head, all));
}

/** Returns the cells of a Markdown table's rows, without its head. */
export function cellsOf(table: string): string[][] {
  return table
    .split('\n')
    .filter((line) => line.startsWith('|'))
    .slice(2)
    .map((line) =>
      line
        .slice(1, -1)
        .split(/(?<!\\)\|/)
        .map((cell) => cell.trim().replaceAll('\\|', '|')),
    );
}
