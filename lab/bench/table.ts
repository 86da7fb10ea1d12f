import { isReached, type Goal, type Report, type Section } from './report.js';

/** Formats the whole report as plain text. */
export function formatReport({ node, cpu, sections, goals }: Report): string {
  const parts = [
    `Paylink beside the usual ways. Node ${node}, ${cpu}`,
    ...sections.map(formatSection),
  ];
  if (goals.length > 0) parts.push(formatGoals(goals));
  const hosts = sections.filter(({ rows }) => rows.some((row) => 'req/s /bare' in row.figures));
  if (hosts.length > 0) parts.push(formatHosts(hosts, goals));
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

/** Summarises all hosts by CPU time per request, which other work on the machine disturbs least. */
function formatHosts(sections: readonly Section[], goals: readonly Goal[]): string {
  const cells = sections.flatMap(({ title, rows }) =>
    rows
      .filter(({ contestant }) => contestant === 'paylink')
      .map(({ load, figures, spread }) => {
        const own = goals.filter((goal) =>
          goal.title.startsWith(`${title} at ${load}, requests a CPU second`),
        );
        const ratios = ['bare', 'by hand', 'least'].map((of) => {
          const [from, to] = spread![`CPU /${of}`]!;
          // The ratio is of CPU time, so the greatest means the fewest requests.
          return (
            `${formatNumber(1 / figures[`CPU /${of}`]!)} (${formatNumber(1 / to)} to ` +
            `${formatNumber(1 / from)})`
          );
        });
        const wanted = own
          .map((goal) => `${goal.goal} of ${goal.title.split(' of ').at(-1)!}`)
          .join(', ');
        return [
          title,
          load,
          ...ratios,
          wanted || '-',
          own.length === 0 ? '-' : own.every(isReached) ? 'yes' : 'no',
        ];
      }),
  );
  const columns = ['host', 'size', 'to bare', 'to by hand', 'to least', 'goals', 'reached'];
  return [
    heading('Requests a CPU second with paylink, as ratios (and the middle half of the rounds)'),
    '',
    ...formatTable([columns, ...cells]),
  ].join('\n');
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
