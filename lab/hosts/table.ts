/** The rows of two tables: the attempts, and the attacks that a host makes impossible. */
import type { SeenException, Verdict } from './verdict.js';

export interface HostReport extends Verdict {
  readonly id: string;
  readonly name: string;
  readonly version: string;
  readonly builtWith: string;
  readonly seconds: number;
}

export const HEAD = [
  'host',
  'version',
  'built with',
  'attacks tried',
  'faults',
  'exceptions',
] as const;

export function rowOf({
  name,
  version,
  builtWith,
  tried,
  faults,
  exceptions,
}: HostReport): (string | number)[] {
  return [name, version, builtWith, tried, faults.length, exceptions.length];
}

/** Returns one row per reason, with all attacks that the reason explains. */
export function exceptionRows(reports: readonly HostReport[]): string[][] {
  return reports.flatMap(({ name, exceptions }) => {
    const reasons = new Map<string, SeenException[]>();
    for (const exception of exceptions)
      reasons.set(exception.why, [...(reasons.get(exception.why) ?? []), exception]);
    return [...reasons].map(([why, seen]) => [
      name,
      seen.map(({ id, what }) => `${id} ${what}`).join('<br>'),
      [...new Set(seen.map(({ found }) => found))].join('<br>'),
      why,
    ]);
  });
}

export function markdown(
  head: readonly string[],
  rows: readonly (readonly (string | number)[])[],
): string {
  const line = (cells: readonly (string | number)[]): string =>
    '| ' +
    `${cells.map((cell) => String(cell).replaceAll('|', '\\|').replaceAll('\n', ' ')).join(' | ')} ` +
    '|';
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n');
}
