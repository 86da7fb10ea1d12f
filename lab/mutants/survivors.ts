import type { Mutant, Report } from './run.js';

/**
 * Why one mutant need not be noticed. It is found by the text of its line, so that code may move.
 */
export interface Justification {
  readonly line: string;
  readonly from: string;
  readonly to: string;
  readonly why: string;
}

/** By file. */
export type Justifications = Readonly<Record<string, readonly Justification[]>>;

export interface Survivor extends Omit<Justification, 'why'> {
  readonly file: string;
  readonly at: number;
  readonly isCovered: boolean;
}

export interface Score {
  readonly file: string;
  readonly noticed: number;
  readonly justified: number;
  readonly survivors: readonly Survivor[];
}

/** How many mutants of each file the tests noticed, and which they did not. */
export function scores(report: Report, justifications: Justifications): Score[] {
  return Object.entries(report.files).map(([file, { source, mutants }]) => {
    const unnoticed = mutants.filter(isUnnoticed).map((mutant) => survivorOf(file, source, mutant));
    const survivors = unnoticed.filter(
      (survivor) => !(justifications[file] ?? []).some((entry) => isOf(entry, survivor)),
    );
    const noticed = mutants.filter(isNoticed).length;
    return { file, noticed, justified: unnoticed.length - survivors.length, survivors };
  });
}

/** The entries that no survivor stands behind: the mutant is noticed, or there is none any more. */
export function idleEntries(report: Report, justifications: Justifications): string[] {
  return Object.entries(report.files).flatMap(([file, { source, mutants }]) => {
    const unnoticed = mutants.filter(isUnnoticed).map((mutant) => survivorOf(file, source, mutant));
    return (justifications[file] ?? [])
      .filter((entry) => !unnoticed.some((survivor) => isOf(entry, survivor)))
      .map(({ line, from, to }) => `${file}: ${line}\n    ${from} → ${to}`);
  });
}

/** The entries whose file or line is gone; found without a run. */
export function lostEntries(
  justifications: Justifications,
  read: (file: string) => string | undefined,
): string[] {
  return Object.entries(justifications).flatMap(([file, entries]) => {
    const lines = new Set((read(file) ?? '').split('\n').map((line) => line.trim()));
    return entries.filter(({ line }) => !lines.has(line)).map(({ line }) => `${file}: ${line}`);
  });
}

/**
 * What a run of Vitest ends with 1 for: a test that fails or hangs, or an error outside of the
 * tests.
 */
function isNoticed({ status, statusReason }: Mutant): boolean {
  return (
    status === 'Killed' ||
    status === 'Timeout' ||
    (status === 'RuntimeError' && statusReason?.includes('outside of a test run') === true)
  );
}

function isUnnoticed(mutant: Mutant): boolean {
  return mutant.status !== 'Ignored' && !isNoticed(mutant);
}

function isOf({ line, from, to }: Justification, survivor: Survivor): boolean {
  return line === survivor.line && from === survivor.from && to === survivor.to;
}

function survivorOf(
  file: string,
  source: string,
  { location, replacement, status }: Mutant,
): Survivor {
  const lines = source.split('\n');
  const { start, end } = location;
  const from = lines.slice(start.line - 1, end.line);
  from[from.length - 1] = from.at(-1)!.slice(0, end.column - 1);
  from[0] = from[0]!.slice(start.column - 1);
  return {
    file,
    at: start.line,
    line: lines[start.line - 1]!.trim(),
    from: onOneLine(from.join('\n')),
    to: onOneLine(replacement),
    isCovered: status !== 'NoCoverage',
  };
}

function onOneLine(text: string): string {
  const line = text.replace(/\s+/g, ' ');
  return line.length > 240 ? `${line.slice(0, 239)}…` : line;
}
