import type { Mutant, Report } from './run.js';

/**
 * The reason why a mutant need not be noticed. The text of its line identifies it, so that code may
 * move.
 */
export interface Justification {
  readonly line: string;
  readonly from: string;
  readonly to: string;
  readonly why: string;
}

/** Justifications by file. */
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

/** Counts the noticed mutants of each file, and lists the others. */
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

/** Returns the entries without a survivor: the mutant is noticed or gone. */
export function idleEntries(report: Report, justifications: Justifications): string[] {
  return Object.entries(report.files).flatMap(([file, { source, mutants }]) => {
    const unnoticed = mutants.filter(isUnnoticed).map((mutant) => survivorOf(file, source, mutant));
    return (justifications[file] ?? [])
      .filter((entry) => !unnoticed.some((survivor) => isOf(entry, survivor)))
      .map(({ line, from, to }) => `${file}: ${line}\n    ${from} → ${to}`);
  });
}

/** Returns the entries whose file or line is gone. Needs no run. */
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
 * Returns true if Vitest would exit with 1: a test fails or hangs, or an error occurs outside the
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
