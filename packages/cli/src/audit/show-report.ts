/** Prints a report for people: the unjudged attacks and the causes, at most one screen of both. */
import type { AuditReport } from '@paylink/testing';
import type { Output } from '../terminal/output.js';
import { text, type Printable, type SafeText } from '../terminal/safe-text.js';

/** The number of causes with all details. Each further cause gets one line. */
const IN_FULL = 5;
const LINES = 8;

export function showReport(
  report: AuditReport,
  output: Output,
  { verbose }: { readonly verbose: boolean },
): void {
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
  if (verbose) {
    output.table(report.results.map((result) => row(result, output)));
    output.line();
    for (const finding of report.findings) {
      output.line(
        text`${severity(finding.severity ?? 'low', output)}  ${finding.id} ${finding.title ?? finding.name}`,
      );
      output.line(text`  ${finding.advice ?? ''}`);
    }
    if (report.findings.length > 0) output.line();
  }
  for (const cause of causes.slice(0, IN_FULL)) showCause(cause, framework, output);
  const rest = causes.slice(IN_FULL);
  for (const { severity: level, title, symptoms } of rest.slice(0, LINES)) {
    output.line(text`${severity(level, output)}  ${title} (${counted(symptoms, 'finding')})`);
  }
  if (rest.length > LINES) output.line(text`and ${rest.length - LINES} more causes`);
  if (rest.length > 0) output.line();
  if (notes.length > 0) {
    output.line(
      paint.dim(
        `${counted(notes.length, 'note')}, not a finding: ${notes
          .map(({ note }) => note)
          .slice(0, 3)
          .join('; ')}${notes.length > 3 ? '; …' : ''}`,
      ),
    );
  }
  output.line(summary(report, output, verbose));
}

function showCause(
  { severity: level, title, evidence, fix, symptoms }: AuditReport['causes'][number],
  framework: string | undefined,
  output: Output,
): void {
  output.line(
    text`${severity(level, output)}  ${output.paint.bold(title)} (${counted(symptoms, 'finding')})`,
  );
  output.line(text`  ${evidence.join('; ')}`);
  output.line(text`  Fix${framework === undefined ? '' : ` (${framework})`}: ${fix}`);
  output.line();
}

function summary(
  { results, findings, causes, complete }: AuditReport,
  { paint }: Output,
  verbose: boolean,
): SafeText {
  const skipped = results.filter((result) => result.skipped !== undefined).length;
  const total = `${results.length - skipped} tried${skipped === 0 ? '' : `, ${skipped} not`}`;
  if (findings.length === 0)
    return complete
      ? paint.green(`${total}: no finding`)
      : paint.yellow(`${total}: no finding so far`);
  const found = `${total}: ${counted(causes.length, 'cause')} of ${counted(findings.length, 'finding')}`;
  return paint.red(`${found}${verbose ? '' : '; --verbose lists each'}`);
}

function severity(level: string, { paint }: Output): SafeText {
  return level === 'critical' || level === 'high' ? paint.red(level) : paint.yellow(level);
}

function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}

/** Returns the cells of a result. The name begins with the id. */
function row(
  { name, passed, skipped, note, actual }: AuditReport['results'][number],
  { paint }: Output,
): Printable[] {
  if (skipped !== undefined)
    return [paint.dim('–'), '', text`${name} ${paint.dim(`(not tried: ${skipped})`)}`];
  const verdict =
    note === undefined ? (passed ? paint.green('ok') : paint.red('FOUND')) : paint.yellow('note');
  return [verdict, paint.dim(actual ?? ''), name];
}
