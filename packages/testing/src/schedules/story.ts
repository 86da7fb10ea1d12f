/** The story of one try: a line for each round, without a value. */
import type { Round } from './round.js';
import type { Party } from './subject.js';

export interface Line {
  readonly who: string;
  readonly party?: Party;
  readonly round?: Round | undefined;
  /** Instead of the statements, such as the reply to the notification. */
  readonly text?: string | undefined;
  /** Stand after the round, such as `waits`, `unpaid` and `the connection is cut`. */
  readonly notes: string[];
}

const LONGEST = 60;
/** With the fault and the advice, a story has at most 25 lines. */
const MOST_LINES = 20;

export function writeStory(lines: readonly Line[]): string[] {
  const texts = lines.map(
    ({ round, text }) => text ?? round!.statements.map(withoutValues).join('; '),
  );
  const width = Math.max(...texts.map(({ length }) => length));
  const rows = lines.map((line, at) =>
    `${line.who}  ${texts[at]!.padEnd(width)}  ${resultOf(line)}`.trimEnd(),
  );
  if (rows.length <= MOST_LINES) return rows;
  const left = rows.length - MOST_LINES + 1;
  return [...rows.slice(0, 5), `   … ${left} more rounds`, ...rows.slice(5 + left)];
}

function resultOf({ round, text, notes }: Line): string {
  const rows = round?.rows === undefined ? [] : [`${round.rows} row${round.rows === 1 ? '' : 's'}`];
  const error = round?.error === undefined ? [] : [`error ${round.error}`];
  return [...(text === undefined ? [...rows, ...error] : []), ...notes].join(', ');
}

/** Leaves the values out of a statement: they may be a customer's. */
function withoutValues(sql: string): string {
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
