/** Writes the last run's tables to docs/hosts.md row by row, so that one host can run alone. */
import { readFileSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { format } from '../../scripts/format.mjs';
import { writeFigure } from '../home-figures.js';
import { hosts } from './hosts.js';
import { EXCEPTIONS_HEAD, exceptionRows, HEAD, markdown, rowOf, type HostReport } from './table.js';

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
  page = replaceRows(page, 'exceptions', EXCEPTIONS_HEAD, reports, exceptionRows(reports));
  page = replaceBetween(page, 'merchant', merchantCode());
  page = replaceBetween(page, 'sections', sections());
  await writeFile(PAGE, await format(PAGE, page));
  const tried = cellsOf(betweenMarks(page, 'tried')).map(([, , , attacks]) => attacks!);
  writeFigure('attacks', tried[0]!, String(tried.length));
}

/** Returns the file that every project imports. */
export function merchantCode(): string {
  return block('orders.ts');
}

/** Returns a section per host with the project's main file. */
export function sections(): string {
  return hosts
    .map(({ id, name, shows, note }) =>
      [
        `### ${name}`,
        `\`${shows}\`:`,
        block(`${id}/${shows}`),
        ...(note === undefined ? [] : [note]),
      ].join('\n\n'),
    )
    .join('\n\n');
}

/**
 * Puts the name after the language, so that the documents' compiler ignores the block: its imports
 * belong to the project.
 */
function block(path: string): string {
  return `\`\`\`ts ${path}\n${readFileSync(at(`projects/${path}`), 'utf8')}\`\`\``;
}

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
