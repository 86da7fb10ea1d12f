import type { WireReply } from '@paylink/testing/internal';
import { bySeverity, causesOf, type AuditCause } from './causes.js';
import { frameworkOf } from './framework.js';
import type { AuditResult } from './result.js';

/** The reason of a skipped result: a 429 shows neither a pass nor a fault. */
export const LIMITED = 'the server has a rate limit (429)';

/** The reason if an audit ended early. */
export type AuditStop = Readonly<{
  reason:
    | 'wrong_secret'
    | 'unknown_reference'
    | 'no_route'
    | 'no_answer'
    | 'refused'
    | 'stopped_serving'
    | 'interrupted';
  /** The fault and its fix, in one or two sentences. */
  message: string;
}>;

export interface AuditReport {
  /** The address without its query, which may hold a key. */
  readonly url: string;
  /** True if the audit is complete and has no findings. */
  readonly passed: boolean;
  /** True if the audit ran to its end and no rate limit prevented a judgement. */
  readonly complete: boolean;
  /** The reason if the audit ended early. */
  readonly stopped?: AuditStop;
  /** The parts of the audit without a judgement, each with its reason. */
  readonly notJudged: readonly string[];
  /** The causes behind the findings, worst first. */
  readonly causes: readonly AuditCause[];
  /** The framework, if the replies show it. */
  readonly framework?: string;
  /** In the order of the table of attacks. */
  readonly results: readonly AuditResult[];
  /** The failed results, worst first. */
  readonly findings: readonly AuditResult[];
  /** Passed results that carry a note. */
  readonly notes: readonly AuditResult[];
  readonly durationMs: number;
}

export interface ReportParts {
  readonly url: URL;
  readonly results: readonly AuditResult[];
  readonly replies: readonly WireReply[];
  readonly stopped?: AuditStop | undefined;
  readonly started: number;
}

export function reportOf({ url, results, replies, stopped, started }: ReportParts): AuditReport {
  const findings = results.filter(({ passed }) => !passed).sort(bySeverity);
  const framework = frameworkOf(replies);
  const limited = results.filter(({ skipped }) => skipped === LIMITED).length;
  const complete = stopped === undefined && limited === 0;
  return {
    url: url.origin + url.pathname,
    passed: findings.length === 0 && complete,
    complete,
    ...(stopped === undefined ? {} : { stopped }),
    notJudged: limited === 0 ? [] : [unjudged(limited)],
    causes: causesOf(results, framework),
    ...(framework === undefined ? {} : { framework }),
    results,
    findings,
    notes: results.filter(({ note }) => note !== undefined),
    durationMs: Math.round(performance.now() - started),
  };
}

function unjudged(count: number): string {
  return `${count} attacks: ${LIMITED}. Lift the limit, and run the audit again`;
}

export function sorted(results: readonly AuditResult[]): AuditResult[] {
  return [...results].sort((a, b) => (a.id === b.id ? 0 : a.id < b.id ? -1 : 1));
}
