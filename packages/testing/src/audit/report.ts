/** The report of an audit. */
import type { Severity } from '../attacks/attack.js';
import type { WireReply } from '../wire.js';
import { bySeverity, causesOf, type AuditCause, type CauseId } from './causes.js';
import { frameworkOf } from './framework.js';

/** Of a result: the server answered 429, so that it is neither passed nor a finding. */
export const LIMITED = 'the server limits how often it is asked (429)';

export interface AuditResult {
  /** The row of the table of attacks, "A06" for one. Several results have the same. */
  readonly id: string;
  /** A sentence that begins with the id: the right behaviour of a receiver. */
  readonly name: string;
  /** The delivery, in words without a verb. */
  readonly what?: string;
  /** The result: "accepted a delivery without a signature". */
  readonly title?: string;
  /** Whether the receiver has passed. */
  readonly passed: boolean;
  /** Why it was not tried, or not judged. */
  readonly skipped?: string;
  /** Worth knowing, and not a finding. */
  readonly note?: string;
  /**
   * The right statuses. If one of them acknowledges, every 2xx does. Every other 4xx is also a
   * refusal. If a server may just close the connection, that passes too.
   */
  readonly expected: readonly number[];
  /** The received status, `undefined` without an answer. */
  readonly actual: number | undefined;
  /** Observations beside the status. */
  readonly detail?: string;
  /**
   * Of a finding: `critical` if money could be credited without a payment, or a payment be lost.
   */
  readonly severity?: Severity;
  /** The fault of a finding, unless a cause of the report explains it. */
  readonly cause?: CauseId;
  /** The fix, with its reason. */
  readonly advice: string;
  readonly durationMs: number;
}

/** Why an audit ended before everything was tried. */
export interface AuditStop {
  readonly reason:
    | 'wrong_secret'
    | 'unknown_reference'
    | 'no_route'
    | 'no_answer'
    | 'refused'
    | 'stopped_serving'
    | 'interrupted';
  /** The fault and its fix, in a sentence or two. */
  readonly message: string;
}

export interface AuditReport {
  /** Without its query, which may hold a key. */
  readonly url: string;
  /** Whether the audit is complete, without a finding. */
  readonly passed: boolean;
  /** Whether everything was tried, and no limit of the server's kept it from being judged. */
  readonly complete: boolean;
  /** Why it ended early. */
  readonly stopped?: AuditStop;
  /** The probes that could not be judged, a sentence each. */
  readonly notJudged: readonly string[];
  /** The causes behind the findings, the worst first. */
  readonly causes: readonly AuditCause[];
  /** The framework that answers, if its replies show it. */
  readonly framework?: string;
  /** In the order of the table of attacks. */
  readonly results: readonly AuditResult[];
  /** The results that have not passed, the worst first. */
  readonly findings: readonly AuditResult[];
  /** The results that passed and are worth knowing. */
  readonly notes: readonly AuditResult[];
  readonly durationMs: number;
}

export interface ReportParts {
  readonly url: URL;
  readonly results: readonly AuditResult[];
  readonly replies: readonly WireReply[];
  readonly notJudged: readonly string[];
  readonly stopped?: AuditStop | undefined;
  readonly started: number;
}

export function reportOf({
  url,
  results,
  replies,
  notJudged,
  stopped,
  started,
}: ReportParts): AuditReport {
  const findings = results.filter(({ passed }) => !passed).sort(bySeverity);
  const framework = frameworkOf(replies);
  const limited = results.filter(({ skipped }) => skipped === LIMITED).length;
  const complete = stopped === undefined && limited === 0;
  return {
    url: url.origin + url.pathname,
    passed: findings.length === 0 && complete,
    complete,
    ...(stopped === undefined ? {} : { stopped }),
    notJudged: limited === 0 ? notJudged : [...notJudged, unjudged(limited)],
    causes: causesOf(results, framework),
    ...(framework === undefined ? {} : { framework }),
    results,
    findings,
    notes: results.filter(({ note }) => note !== undefined),
    durationMs: Math.round(performance.now() - started),
  };
}

function unjudged(count: number): string {
  return `${count} of the attacks: ${LIMITED}. Lift that limit for the audit, then run it again`;
}

export function sorted(results: readonly AuditResult[]): AuditResult[] {
  return [...results].sort((a, b) => (a.id === b.id ? 0 : a.id < b.id ? -1 : 1));
}
