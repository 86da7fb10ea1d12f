/** Writes a JUnit report, which CI systems show as test results. */
import type { AuditReport } from '@paylink/testing';

export function toJUnit({ results, findings, durationMs, url, stopped }: AuditReport): string {
  const skipped = results.filter((result) => result.skipped !== undefined).length;
  const cases = results.map(testCase);
  // If the audit stopped, a consumer must not count missing attacks as passed.
  if (stopped !== undefined)
    cases.push(
      `<testcase ${NAME} name="complete"><error message="${xml(stopped.message)}"/></testcase>`,
    );
  const counts =
    `tests="${cases.length}" failures="${findings.length}" ` +
    `errors="${stopped === undefined ? 0 : 1}" skipped="${skipped}"`;
  const suite = `<testsuite name="paylink audit ${xml(url)}" ${counts} time="${seconds(durationMs)}">`;
  const lines = ['<testsuites>', suite, ...cases, '</testsuite>', '</testsuites>'];
  return `<?xml version="1.0" encoding="UTF-8"?>\n${lines.join('\n')}\n`;
}

const NAME = 'classname="paylink audit"';

function testCase({
  name,
  passed,
  skipped,
  durationMs,
  ...result
}: AuditReport['results'][number]): string {
  const { title = name, severity = 'low', advice = '' } = result;
  const failure = `<failure type="${severity}" message="${xml(title)}">${xml(advice)}</failure>`;
  const content =
    skipped === undefined ? (passed ? '' : failure) : `<skipped message="${xml(skipped)}"/>`;
  const attributes = `${NAME} name="${xml(name)}" time="${seconds(durationMs)}"`;
  return `<testcase ${attributes}>${content}</testcase>`;
}

function seconds(milliseconds: number): string {
  return (milliseconds / 1_000).toFixed(3);
}

function xml(value: string): string {
  const printable = value.replace(/[^\t\n\r\x20-\ud7ff\ue000-\ufffd]/g, '�');
  return printable.replace(/[&<>"]/g, (character) => `&#${character.charCodeAt(0)};`);
}
