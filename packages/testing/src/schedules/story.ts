/** The story of one try: a line for each round, without a value. */
import type { Round } from './round.js';

export interface Line {
  readonly who: string;
  readonly round?: Round;
  /** Instead of a round, such as the reply to the notification. */
  readonly text?: string;
  /** Stand after the round, such as `waits`, `unpaid` and `the connection is cut`. */
  notes: string[];
}

const LONGEST = 60;
/** With the fault and the advice, a story has at most 25 lines. */
const MOST_LINES = 20;

export function writeStory(lines: readonly Line[]): string[] {
  const told = lines.map((line) => [line.who, ...columnsOf(line)]);
  const width = Math.max(0, ...told.map(([, text = '']) => text.length));
  const rows = told.map(([who, text = '', result = '']) =>
    `${who}  ${text.padEnd(width)}  ${result}`.trimEnd(),
  );
  if (rows.length <= MOST_LINES) return rows;
  const left = rows.length - MOST_LINES + 1;
  return [...rows.slice(0, 5), `   … ${left} more rounds`, ...rows.slice(5 + left)];
}

function columnsOf({ round, text, notes }: Line): [string, string] {
  if (round === undefined) return [text ?? '', notes.join(', ')];
  const rows = round.rows === undefined ? [] : [`${round.rows} row${round.rows === 1 ? '' : 's'}`];
  const error = round.error === undefined ? [] : [`error ${round.error}`];
  return [round.statements.map(withoutValues).join('; '), [...rows, ...error, ...notes].join(', ')];
}

/** Leaves the values out of a statement: they may be a customer's. */
export function withoutValues(sql: string): string {
  const text = sql
    .replace(/\/\*[^]*?\*\/|--[^\n]*/g, ' ')
    .replace(/\$(\w*)\$[^]*?(?:\$\1\$|$)/g, '?')
    .replace(/[ebnx]?'(?:[^'\\]|''|\\[^])*(?:'|$)/gi, '?')
    // MySQL writes text so. PostgreSQL writes names so, and they have no blank.
    .replace(/"(?:[^"\\]|""|\\[^])*(?:"|$)/g, (name) => (/^"\w+"$/.test(name) ? name : '?'))
    .replace(/(?<![\w$])\d[\w.]*/g, '?')
    // A terminal would obey them.
    .replace(/[\s\p{C}]+/gu, ' ')
    .trim();
  return text.length <= LONGEST ? text : `${text.slice(0, LONGEST - 1)}…`;
}
