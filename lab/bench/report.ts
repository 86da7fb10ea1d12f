/** What the bench found, and its form as plain text. */
import { columns } from '../columns.js';

export interface Report {
  readonly node: string;
  readonly cpu: string;
  readonly sections: readonly Section[];
  readonly goals: readonly Goal[];
}

export interface Section {
  readonly title: string;
  /** Explanations of the figures. */
  readonly notes: readonly string[];
  readonly rows: readonly Row[];
}

/** A line of a section's table: a contestant under one load, with its figures by column. */
export interface Row {
  readonly load: string;
  readonly contestant: string;
  readonly figures: Readonly<Record<string, number>>;
}

export interface Goal {
  readonly title: string;
  readonly bound: 'at most' | 'at least';
  readonly goal: number;
  readonly reached: number;
}

export function isReached({ bound, goal, reached }: Goal): boolean {
  return bound === 'at most' ? reached <= goal : reached >= goal;
}

export function formatReport({ node, cpu, sections, goals }: Report): string {
  return [
    `Paylink beside the usual ways. Node ${node}, ${cpu}`,
    ...sections.map(formatSection),
    ...(goals.length === 0 ? [] : [formatGoals(goals)]),
  ].join('\n\n');
}

function formatSection({ title, notes, rows }: Section): string {
  const figures = Object.keys(rows[0]!.figures);
  const cells = rows.map((row) => [
    row.load,
    row.contestant,
    ...figures.map((figure) => formatNumber(row.figures[figure]!)),
  ]);
  return [heading(title), ...notes, '', columns(['', '', ...figures], cells)].join('\n');
}

function formatGoals(goals: readonly Goal[]): string {
  const cells = goals.map((goal) => [
    goal.title,
    `${goal.bound} ${goal.goal}`,
    formatNumber(goal.reached),
    isReached(goal) ? 'pass' : 'missed',
  ]);
  return [heading('Goals'), '', columns(['', 'goal', 'reached', ''], cells)].join('\n');
}

function heading(title: string): string {
  return `${title}\n${'='.repeat(title.length)}`;
}

function formatNumber(value: number): string {
  if (value >= 1000) return value.toFixed(0);
  return value >= 100 ? value.toFixed(1) : value.toFixed(2);
}
