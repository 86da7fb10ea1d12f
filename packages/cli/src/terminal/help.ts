import type { Command } from 'commander';

interface Lesson {
  /** Complete command lines, each with its effect. */
  readonly examples: readonly (readonly [line: string, purpose: string])[];
  readonly environment?: readonly (readonly [name: string, meaning: string])[];
  readonly exitCodes: readonly (readonly [code: number, meaning: string])[];
}

export function teach(
  command: Command,
  { examples, environment = [], exitCodes }: Lesson,
): Command {
  const sections = [
    section(
      'Examples',
      examples.map(([line, purpose]) => `  # ${purpose}\n  $ ${line}`),
    ),
    section(
      'Environment',
      aligned([
        ...environment,
        ['NO_COLOR, FORCE_COLOR', 'no colours, or colours even if stdout is not a terminal'],
      ]),
    ),
    section('Exit codes', aligned(exitCodes.map(([code, meaning]) => [String(code), meaning]))),
  ];
  return command.addHelpText('after', `\n${sections.join('\n\n')}`);
}

/** The exit code of a wrong command line, which every command shares. */
export const USAGE_EXIT = [
  2,
  'the command line or a setting is wrong, and nothing was sent',
] as const;

function section(title: string, lines: readonly string[]): string {
  return `${title}:\n${lines.join('\n')}`;
}

function aligned(rows: readonly (readonly [string, string])[]): string[] {
  const width = Math.max(...rows.map(([name]) => name.length));
  return rows.map(([name, meaning]) => `  ${name.padEnd(width)}  ${meaning}`);
}
