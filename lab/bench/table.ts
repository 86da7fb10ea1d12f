import { isReached, type Goal, type Report, type Section } from './report.js';

/** Formats the whole report as plain text. */
export function formatReport({ node, cpu, sections, goals }: Report): string {
  const parts = [
    `Paylink beside the usual ways. Node ${node}, ${cpu}`,
    ...sections.map(formatSection),
  ];
  if (goals.length > 0) parts.push(formatGoals(goals));
  return parts.join('\n\n');
}

function formatSection({ title, notes, rows }: Section): string {
  const columns = Object.keys(rows[0]!.figures);
  const cells = rows.map(({ load, contestant, figures }, index) => [
    load === rows[index - 1]?.load ? '' : load,
    contestant,
    ...columns.map((column) => formatNumber(figures[column]!)),
  ]);
  return [heading(title), ...notes, '', ...formatTable([['', '', ...columns], ...cells])].join(
    '\n',
  );
}

function formatGoals(goals: readonly Goal[]): string {
  const cells = goals.map((goal) => [
    goal.title,
    '',
    `${goal.bound} ${goal.goal}`,
    formatNumber(goal.reached),
    isReached(goal) ? 'pass' : 'missed',
  ]);
  return [heading('Goals'), '', ...formatTable([['', '', 'goal', 'reached', ''], ...cells])].join(
    '\n',
  );
}

function heading(title: string): string {
  return `${title}\n${'='.repeat(title.length)}`;
}

/** Formats two columns of names on the left, then figures on the right. */
function formatTable(lines: readonly string[][]): string[] {
  const widths = lines[0]!.map((_, column) =>
    Math.max(...lines.map((line) => line[column]!.length)),
  );
  return lines.map((line) =>
    line
      .map((cell, column) =>
        column < 2 ? cell.padEnd(widths[column]!) : cell.padStart(widths[column]!),
      )
      .join('  ')
      .trimEnd(),
  );
}

function formatNumber(value: number): string {
  if (value >= 1000) return value.toFixed(0);
  return value >= 100 ? value.toFixed(1) : value.toFixed(2);
}
