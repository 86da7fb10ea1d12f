/** Prints a report for people: the unjudged attacks and the causes, at most one screen of both. */
import type { Output } from '../terminal/output.js';
import { text, type SafeText } from '../terminal/safe-text.js';
import type { AuditReport } from './report.js';

/** The number of causes with all details. Each further cause gets one line. */
const IN_FULL = 5;

export function showReport(report: AuditReport, output: Output): void {
  const { paint } = output;
  const { causes, notJudged, stopped, notes, framework } = report;
  if (stopped !== undefined) {
    output.line(text`${paint.red('stopped')}  ${stopped.message}`);
    output.line();
  } else if (notJudged.length > 0) {
    output.line(text`${paint.yellow('Not judged')}:`);
    for (const sentence of notJudged) output.line(text`  ${sentence}`);
    output.line();
  }
  const host = framework === undefined ? '' : ` (${framework})`;
  for (const [index, { severity, title, evidence, fix, symptoms }] of causes.entries()) {
    const level = ['critical', 'high'].includes(severity) ? paint.red : paint.yellow;
    const findings = counted(symptoms, 'finding');
    output.line(text`${level(severity)}  ${paint.bold(title)} (${findings})`);
    if (index >= IN_FULL) continue;
    output.line(text`  ${evidence.join('; ')}`);
    output.line(text`  Fix${host}: ${fix}`);
    output.line();
  }
  if (notes.length > 0)
    output.line(paint.dim(`${counted(notes.length, 'note')}, not a finding: see --json`));
  output.line(summary(report, output));
}

function summary({ results, findings, causes, complete }: AuditReport, output: Output): SafeText {
  const { paint } = output;
  const skipped = results.filter((result) => result.skipped !== undefined).length;
  const total = `${results.length - skipped} tried${skipped === 0 ? '' : `, ${skipped} not`}`;
  if (findings.length > 0) {
    const found = `${counted(causes.length, 'cause')} of ${counted(findings.length, 'finding')}`;
    return paint.red(`${total}: ${found}; --json lists each`);
  }
  return complete
    ? paint.green(`${total}: no finding`)
    : paint.yellow(`${total}: no finding so far`);
}

function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}
