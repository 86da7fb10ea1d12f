import type { WireReply } from '@paylink/testing/internal';
import { bySeverity, causesOf } from './causes.js';
import { frameworkOf } from './framework.js';
import type { AuditResult } from './result.js';

/** The reason of a skipped result: a 429 shows neither a pass nor a fault. */
export const LIMITED = 'the server has a rate limit (429)';

/** The reason if an audit ended early. */
export type AuditStop = Readonly<{
  reason: 'no_answer' | 'refused' | 'stopped_serving' | 'interrupted';
  /** The fault and its fix, in one or two sentences. */
  message: string;
}>;

export type AuditReport = Readonly<ReturnType<typeof reportOf>>;

export interface ReportParts {
  readonly url: URL;
  readonly results: readonly AuditResult[];
  readonly replies: readonly WireReply[];
  readonly stopped?: AuditStop | undefined;
  readonly started: number;
}

export function reportOf({ url, results, replies, stopped, started }: ReportParts) {
  const findings = results.filter(({ passed }) => !passed).sort(bySeverity);
  const framework = frameworkOf(replies);
  const limited = results.filter(({ skipped }) => skipped === LIMITED).length;
  const complete = stopped === undefined && limited === 0;
  const unjudged = `${limited} attacks: ${LIMITED}. Lift the limit, and run the audit again`;
  return {
    /** The address without its query, which may hold a key. */
    url: url.origin + url.pathname,
    passed: findings.length === 0 && complete,
    /** True if the audit ran to its end and no rate limit prevented a judgement. */
    complete,
    /** The reason if the audit ended early. */
    ...(stopped === undefined ? {} : { stopped }),
    /** The parts of the audit without a judgement, each with its reason. */
    notJudged: limited === 0 ? [] : [unjudged],
    /** The causes behind the findings, worst first. */
    causes: causesOf(results, framework),
    /** The framework, if the replies show it. */
    ...(framework === undefined ? {} : { framework }),
    /** In the order of the table of attacks. */
    results,
    /** The failed results, worst first. */
    findings,
    notes: results.filter(({ note }) => note !== undefined),
    durationMs: Math.round(performance.now() - started),
  };
}

export function sorted(results: readonly AuditResult[]): AuditResult[] {
  return [...results].sort((a, b) => (a.id === b.id ? 0 : a.id < b.id ? -1 : 1));
}
