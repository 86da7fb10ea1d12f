/** Writes the results into docs/performance.md, each between two comments. */
import { readFileSync, writeFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { writeFigure } from '../home-figures.js';
import { writePictures } from '../../docs/.vitepress/pictures/write.js';
import type { Report, Row, Section } from './report.js';

const PAGE = new URL('../../docs/performance.md', import.meta.url);
/** The ratio of node:http with 200 B, which the home page repeats. */
const NODE_RATIO = /^\| node:http +\| 200 B +\|.*?\| ([\d.]+) +\| [\d.]+ +\|$/m;
const CREDITS = /(<!-- credits -->\n)[\s\S]*(<!-- \/credits -->)/;
const RESULTS = /(<!-- results -->\n)[\s\S]*(<!-- \/results -->)/;

export function writeDocs(report: Report): void {
  const page = readFileSync(PAGE, 'utf8');
  writeFileSync(
    PAGE,
    page.replace(RESULTS, (_, start, end) => `${start}${formatResults(report)}${end}`),
  );
  writePictures();
  const [, ratio] = NODE_RATIO.exec(readFileSync(PAGE, 'utf8')) ?? [];
  if (ratio !== undefined) writeFigure('speed', ratio);
}

/** A line of the table of credits, measured on one network with pools of one size. */
export interface CreditRow {
  /** Milliseconds to the database and back. */
  readonly roundTrip: number;
  readonly poolSize: number;
  /** Requests per second, relative to by hand. */
  readonly ratio: number;
  readonly goal: number;
  /** CPU time of the server for a request. */
  readonly cpu: { readonly payments: string; readonly byHand: string };
}

export function writeCredits(rows: readonly CreditRow[]): void {
  const lines = table(
    ['database', 'pool', 'by hand', 'Paylink', 'requests per second, relative to by hand', 'floor'],
    rows.map(({ roundTrip, poolSize, ratio, goal, cpu }) => [
      roundTrip === 0 ? 'on the same machine' : `${roundTrip} ms away`,
      `${poolSize} connections`,
      cpu.byHand,
      cpu.payments,
      ratio.toFixed(2),
      String(goal),
    ]),
  );
  const machine = `Node ${process.versions.node}, ${cpus().length} × ${cpus()[0]!.model.trim()}.`;
  const text = ['', machine, '', ...lines, '', ''].join('\n');
  const page = readFileSync(PAGE, 'utf8');
  writeFileSync(
    PAGE,
    page.replace(CREDITS, (_, start, end) => `${start}${text}${end}`),
  );
}

function formatResults({ node, cpu, sections, goals }: Report): string {
  const hosts = sections.filter(({ rows }) => 'to by hand' in rows[0]!.figures);
  const events = sections.find(({ rows }) =>
    rows.some(({ contestant }) => contestant === 'stripe'),
  );
  const floorOf = (title: string): string =>
    String(goals.find((goal) => goal.title.startsWith(`${title}:`))?.goal ?? '');
  const hostLines = hosts.flatMap((section) =>
    rowsOf(section).map(({ load, figures }) => {
      const byHand = section.rows.find((row) => row.load === load && row.contestant === 'by hand')!;
      const times = [byHand, { figures }].map((row) => `${row.figures['CPU µs']!.toFixed(0)} µs`);
      const ratio = figures['to by hand']!.toFixed(2);
      return [section.title, load, ...times, ratio, floorOf(`${section.title}, ${load}`)];
    }),
  );
  const verifyLines = (events === undefined ? [] : rowsOf(events)).map(({ load, figures }) => [
    load,
    figures['ratio']!.toFixed(2),
    floorOf(`verify, ${load}`),
  ]);
  return [
    `\nNode ${node}, ${cpu}.\n`,
    ...table(
      [
        'host',
        'body',
        'by hand',
        'Paylink',
        'requests per CPU second, relative to by hand',
        'floor',
      ],
      hostLines,
    ),
    '\nThe CPU time of `createVerifier(…).verify` alone, relative to the same work by hand:\n',
    ...table(['body', 'time, relative to by hand', 'ceiling'], verifyLines),
    '\n',
  ].join('\n');
}

function rowsOf({ rows }: Section): Row[] {
  return rows.filter(({ contestant }) => contestant === 'paylink');
}

function table(heads: readonly string[], lines: readonly (readonly string[])[]): string[] {
  return [heads, heads.map(() => '---'), ...lines].map((cells) => `| ${cells.join(' | ')} |`);
}
