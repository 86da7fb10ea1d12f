/** Writes reports for other programs: JUnit for test reports, SARIF 2.1.0 for code scanning. */
import type { AuditReport } from '@paylink/testing';

export function toJUnit({ results, findings, durationMs, url, stopped }: AuditReport): string {
  const skipped = results.filter((result) => result.skipped !== undefined).length;
  const cases = results.map(testCase);
  // If the audit stopped, a consumer must not count missing attacks as passed.
  if (stopped !== undefined)
    cases.push(
      '    <testcase classname="paylink audit" name="complete"><error ' +
        `message="${xml(stopped.message)}"/></testcase>`,
    );
  const counts =
    `tests="${cases.length}" failures="${findings.length}" ` +
    `errors="${stopped === undefined ? 0 : 1}" skipped="${skipped}"`;
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    '<testsuites>',
    `  <testsuite name="paylink audit ${xml(url)}" ${counts} time="${seconds(durationMs)}">`,
    ...cases,
    '  </testsuite>',
    '</testsuites>',
    '',
  ].join('\n');
}

function testCase({
  name,
  passed,
  skipped,
  title,
  severity,
  advice,
  durationMs,
}: AuditReport['results'][number]): string {
  const open =
    `    <testcase classname="paylink audit" name="${xml(name)}" ` +
    `time="${seconds(durationMs)}"`;
  if (skipped !== undefined) return `${open}><skipped message="${xml(skipped)}"/></testcase>`;
  if (passed) return `${open}/>`;
  return (
    `${open}><failure type="${severity ?? 'low'}" ` +
    `message="${xml(title ?? name)}">${xml(advice ?? '')}</failure></testcase>`
  );
}

function seconds(milliseconds: number): string {
  return (milliseconds / 1_000).toFixed(3);
}

function xml(value: string): string {
  const printable = value.replace(/[^\t\n\r\x20-\ud7ff\ue000-\ufffd]/g, '�');
  return printable.replace(/[&<>"]/g, (character) => `&#${character.charCodeAt(0)};`);
}

const LEVELS: Readonly<Record<string, string>> = {
  critical: 'error',
  high: 'error',
  medium: 'warning',
  low: 'note',
  note: 'note',
};

export function toSarif({ causes, url, complete, stopped }: AuditReport, version: string): object {
  return {
    $schema: 'https://json.schemastore.org/sarif-2.1.0.json',
    version: '2.1.0',
    runs: [
      {
        tool: {
          driver: {
            name: 'paylink audit',
            version,
            rules: causes.map(({ id, title, fix }) => ({
              id,
              shortDescription: { text: title },
              help: { text: fix },
            })),
          },
        },
        invocations: [
          {
            executionSuccessful: complete,
            ...(stopped === undefined
              ? {}
              : {
                  toolExecutionNotifications: [
                    { level: 'error', message: { text: stopped.message } },
                  ],
                }),
          },
        ],
        results: causes.map(({ id, severity, title, evidence, fix, symptoms }) => ({
          ruleId: id,
          level: LEVELS[severity] ?? 'note',
          message: { text: `${title}: ${evidence.join('; ')}. ${fix}` },
          locations: [{ physicalLocation: { artifactLocation: { uri: url } } }],
          properties: { severity, symptoms },
        })),
      },
    ],
  };
}
