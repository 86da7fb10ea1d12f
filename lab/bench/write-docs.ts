/** Writes the results into docs/performance.md. */
import { readFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { writeBetweenMarks } from '../docs-page.js';
import { writeFigure } from '../home-figures.js';
import { markdown } from '../hosts/table.js';
import { writePictures } from '../../docs/.vitepress/pictures/write.js';
import type { Report, Row } from './report.js';

const PAGE = 'performance.md';
const RATIO = 'requests per CPU second, relative to by hand';
/** The ratio of node:http with 200 B, which the home page repeats. */
const NODE_RATIO = /^\| node:http +\| 200 B +\|.*?\| ([\d.]+) +\| [\d.]+ +\|$/m;

export async function writeDocs(report: Report): Promise<void> {
  await writeBetweenMarks(PAGE, 'results', () => formatResults(report));
  writePictures();
  const page = readFileSync(new URL(`../../docs/${PAGE}`, import.meta.url), 'utf8');
  const [, ratio] = NODE_RATIO.exec(page) ?? [];
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

export async function writeCredits(rows: readonly CreditRow[]): Promise<void> {
  const table = markdown(
    ['database', 'pool', 'by hand', 'Paylink', 'requests per second, relative to by hand', 'floor'],
    rows.map(({ roundTrip, poolSize, ratio, goal, cpu }) => [
      roundTrip === 0 ? 'on the same machine' : `${roundTrip} ms away`,
      `${poolSize} connections`,
      ...[cpu.byHand, cpu.payments, ratio.toFixed(2), goal],
    ]),
  );
  const machine = `Node ${process.versions.node}, ${cpus().length} × ${cpus()[0]!.model.trim()}.`;
  await writeBetweenMarks(PAGE, 'credits', () => `${machine}\n\n${table}`);
}

function formatResults({ node, cpu, sections, goals }: Report): string {
  const isPaylink = ({ contestant }: Row): boolean => contestant === 'paylink';
  const hosts = sections.filter(({ rows }) => 'to by hand' in rows[0]!.figures);
  const events = sections.find(({ rows }) =>
    rows.some(({ contestant }) => contestant === 'stripe'),
  );
  const floorOf = (title: string): string =>
    String(goals.find((goal) => goal.title.startsWith(`${title}:`))?.goal ?? '');
  const hostLines = hosts.flatMap((section) =>
    section.rows.filter(isPaylink).map(({ load, figures }) => {
      const byHand = section.rows.find((row) => row.load === load && row.contestant === 'by hand')!;
      const times = [byHand, { figures }].map((row) => `${row.figures['CPU µs']!.toFixed(0)} µs`);
      const ratio = figures['to by hand']!.toFixed(2);
      return [section.title, load, ...times, ratio, floorOf(`${section.title}, ${load}`)];
    }),
  );
  const verifyLines = (events?.rows.filter(isPaylink) ?? []).map(({ load, figures }) => [
    load,
    figures['ratio']!.toFixed(2),
    floorOf(`verify, ${load}`),
  ]);
  return [
    `Node ${node}, ${cpu}.`,
    markdown(['host', 'body', 'by hand', 'Paylink', RATIO, 'floor'], hostLines),
    'The CPU time of `createVerifier(…).verify` alone, relative to the same work by hand:',
    markdown(['body', 'time, relative to by hand', 'ceiling'], verifyLines),
  ].join('\n\n');
}
