/** Writes the findings for people, as JSON and as CSV. */
import { createWriteStream } from 'node:fs';
import { pipeline } from 'node:stream/promises';
import { cannotBeWritten, failure } from '../failure.js';
import type { Output } from '../output.js';
import { escapeText, text, type Printable } from '../safe-text.js';
import { FINDINGS, type Finding } from './finding.js';
import { VERDICTS } from './judge.js';
import { hasNoOrders, type Proof } from './prove.js';

/** The most findings of each kind on a terminal. */
const SHOWN = 10;

const WORDS: Readonly<Record<(typeof VERDICTS)[number] | (typeof FINDINGS)[number], string>> = {
  right: 'right',
  lost: 'lost',
  doubled: 'doubled',
  credited_without_payment: 'credited without payment',
  amount_differs: 'amount differs',
  unknown: 'unknown',
  not_asked: 'not asked',
  reference_repeated: 'reference repeated',
  credit_without_order: 'credit without an order',
  mark_without_order: 'mark without an order',
  input_fault: 'fault of the input',
};

export async function showProof(
  proof: Proof,
  findings: () => AsyncIterable<Finding>,
  output: Output,
): Promise<void> {
  const { paint } = output;
  const { books, stopped, verdicts } = proof;
  if (stopped !== undefined) {
    output.line(text`${paint.red('stopped')}  ${stopped}. The findings so far:`);
    output.line();
  }
  if (books === undefined) {
    output.line('The books were not read to their end, so no order has a verdict.');
    return;
  }
  const shown = new Map<string, Finding[]>();
  for await (const finding of findings()) {
    const list = shown.get(finding.finding) ?? [];
    if (list.length < SHOWN) shown.set(finding.finding, [...list, finding]);
  }
  for (const kind of FINDINGS) {
    const list = shown.get(kind) ?? [];
    const count = proof.findings[kind] ?? 0;
    if (count === 0) continue;
    output.line(text`${paint.red(WORDS[kind])}  ${count}`);
    output.table(list.map(({ reference, mark, reason }) => [reference ?? mark ?? '', reason]));
    if (count > list.length)
      output.line(text`  and ${count - list.length} more: --csv findings.csv has each`);
    output.line();
  }
  output.line(paint.bold(`${books.orders} orders, ${proof.asked} asked`));
  output.table(
    VERDICTS.map((verdict): Printable[] => {
      const count = verdicts[verdict] ?? 0;
      const isGood = verdict === 'right' || verdict === 'not_asked';
      return [WORDS[verdict], isGood || count === 0 ? String(count) : paint.red(String(count))];
    }),
  );
  output.line();
  output.line(conclusion(proof, output));
}

function conclusion(proof: Proof, { paint }: Output): Printable {
  const { complete, total, verdicts } = proof;
  const notAsked = verdicts['not_asked'] ?? 0;
  const rest =
    notAsked === 0 ? '' : `; ${notAsked} orders were not asked about and have no verdict`;
  if (hasNoOrders(proof))
    return paint.red('no order was read, so the run proves nothing: check --orders');
  if (total > 0) return paint.red(`${total} finding${total === 1 ? '' : 's'}${rest}`);
  return complete ? paint.green(`no finding${rest}`) : paint.yellow(`no finding so far${rest}`);
}

/** Streams one document from the disk, because the findings may exceed the memory. */
export async function writeJson(
  proof: Proof,
  findings: () => AsyncIterable<Finding>,
  output: Output,
): Promise<void> {
  const { books, stopped, complete, asked, verdicts, total } = proof;
  const head = {
    complete,
    ...(stopped === undefined ? {} : { stopped }),
    booksReadAt: books?.readAt ?? null,
    rows: books?.rows ?? null,
    orders: books?.orders ?? 0,
    asked,
    verdicts: Object.fromEntries(VERDICTS.map((verdict) => [verdict, verdicts[verdict] ?? 0])),
    findingCounts: Object.fromEntries(FINDINGS.map((kind) => [kind, proof.findings[kind] ?? 0])),
    findingCount: total,
  };
  await output.documentWithList(head, 'findings', findings());
}

const COLUMNS = [
  'finding',
  'reference',
  'reason',
  'ordered',
  'credits',
  'credited',
  'marked',
  'status',
  'paid',
  'currency',
  'mark',
] as const;

/** @param target a file, or `true` for stdout, which is escaped on a terminal */
export async function writeCsv(
  target: string | true,
  findings: AsyncIterable<Finding>,
  output: Output,
): Promise<void> {
  const shown =
    target === true && process.stdout.isTTY ? escapeText : (line: string): string => line;
  const line = (cells: readonly Cell[]): string =>
    `${shown(output.redact(cells.map(quote).join(',')))}\r\n`;
  const lines = async function* (): AsyncGenerator<string> {
    yield line(COLUMNS);
    for await (const finding of findings)
      yield line(COLUMNS.map((column) => valueOf(finding[column])));
  };
  output.clearProgress();
  if (target === true) return pipeline(lines, process.stdout, { end: false });
  await pipeline(lines, createWriteStream(target, { mode: 0o600 })).catch((error: unknown) => {
    throw failure(`--csv: ${cannotBeWritten(target, error)}`, 'the service was asked already');
  });
}

type Cell = string | number | boolean | undefined;

function valueOf(value: Finding[keyof Finding]): Cell {
  return typeof value === 'object' ? `${value.least}-${value.most}` : value;
}

function quote(value: Cell): string {
  const cell = value === undefined ? '' : String(value);
  return /[",\r\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell;
}
