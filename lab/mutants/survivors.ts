import type { Mutant, Report } from './run.js';

export interface Survivor {
  readonly file: string;
  readonly at: number;
  readonly line: string;
  readonly from: string;
  readonly to: string;
  readonly isCovered: boolean;
}

export interface Score {
  readonly file: string;
  readonly noticed: number;
  readonly survivors: readonly Survivor[];
}

/** Counts the noticed mutants of each file, and lists the others. */
export function scores(report: Report): Score[] {
  return Object.entries(report.files).map(([file, { source, mutants }]) => ({
    file,
    noticed: mutants.filter(isNoticed).length,
    survivors: mutants.filter(isUnnoticed).map((mutant) => survivorOf(file, source, mutant)),
  }));
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
