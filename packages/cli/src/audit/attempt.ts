/** Tries one probe and judges the result. */
import { acknowledges, type Severity, type WireAnswer } from '@paylink/testing/internal';
import type { CauseId } from './cause.js';
import { isAcknowledged, isLimited, orClosed, statusOf, type AuditSession } from './session.js';
import type { Observation, Probe } from './probe.js';
import { LIMITED } from './report.js';
import type { AuditResult } from './result.js';

/** Thrown if the server stops serving. Ends the audit. */
export class StoppedServing extends Error {
  override name = 'StoppedServing';
  constructor(readonly result: AuditResult) {
    super('the server stopped serving');
  }
}

/** Tries one probe, then checks that the server still serves. @throws StoppedServing */
export async function attempt(probe: Probe, session: AuditSession): Promise<AuditResult> {
  const observation = await perform(probe, session);
  session.throwIfEnded();
  for (const answer of [observation.answer, ...(observation.others ?? [])]) {
    if (typeof answer !== 'string') session.replies.push({ to: probe.name, reply: answer });
  }
  const { id, name, what, expected } = probe;
  const result = (verdict: Verdict): AuditResult => ({
    id,
    name,
    what,
    title: titleOf(probe, observation.answer),
    expected,
    actual: statusOf(observation.answer),
    ...verdict,
  });
  const verdict = judge(probe, observation, session);
  // Checks for a crash at once, so that a later delivery is not blamed. During the probe of slow
  // senders, a full queue closes connections too.
  const isGone = observation.answer === 'closed' && probe.fault !== 'one_at_a_time';
  if (verdict.skipped !== undefined || (!verdict.passed && !isGone)) return result(verdict);
  // An acknowledged delivery proves that the server serves.
  if (probe.category === 'genuine' && isAcknowledged(observation.answer)) return result(verdict);
  const after = await stillServes(session);
  session.throwIfEnded();
  if (isAcknowledged(after) || (!verdict.passed && typeof after !== 'string'))
    return result(verdict);
  // A 429 proves that the server serves.
  if (isLimited(after)) return result(NOT_JUDGED);
  const stopped = result({
    passed: false,
    severity: 'high',
    cause: 'stops_serving',
    title: `stopped acknowledging genuine deliveries after ${what}`,
  });
  if (typeof after === 'string') throw new StoppedServing(stopped);
  return stopped;
}

async function stillServes({ serves, wait }: AuditSession): Promise<WireAnswer> {
  const once = (): Promise<WireAnswer> => orClosed(serves());
  const first = await once();
  if (isAcknowledged(first) || isLimited(first)) return first;
  await wait(500);
  return once();
}

async function perform(probe: Probe, session: AuditSession): Promise<Observation> {
  try {
    return await probe.perform(session);
  } catch (error) {
    // An error with a code is a failed connection, which the server closed. Other errors are the
    // caller's.
    if (typeof (error as { readonly code?: unknown } | null)?.code !== 'string') throw error;
    return { answer: 'closed', fault: 'the server refused a connection' };
  }
}

/** The row of deliveries for orders other than the audit's. */
const OTHER_ORDERS = 'C16';

type Verdict = Pick<
  AuditResult,
  'passed' | 'severity' | 'detail' | 'cause' | 'note' | 'title' | 'skipped'
>;

const NOT_JUDGED: Verdict = {
  passed: true,
  skipped: LIMITED,
};

function judge(
  probe: Probe,
  { answer, fault, others = [] }: Observation,
  { unknownOrder }: AuditSession,
): Verdict {
  if ([answer, ...others].some(isLimited)) return NOT_JUDGED;
  if (fault === undefined && (probe.onlyFault === true || isRight(probe, answer)))
    return { passed: true };
  // The receiver answers an unknown order with this status.
  if (
    probe.id === OTHER_ORDERS &&
    fault === undefined &&
    statusOf(answer) === unknownOrder.status
  ) {
    return {
      passed: true,
      note: `${titleOf(probe, answer)}, as to every unknown order. A 503 would be clearer`,
    };
  }
  // Express and NestJS enforce a limit, but read to the end before they answer.
  const waits = probe.fault === 'no_limit' && fault === undefined && answer === 'no answer';
  const [severity, cause]: [Severity, CauseId] = waits
    ? ['medium', 'no_deadline']
    : severityAndCauseOf(probe, answer);
  if (severity === 'note') return { passed: true, note: titleOf(probe, answer) };
  return { passed: false, severity, cause, ...(fault === undefined ? {} : { detail: fault }) };
}

function isRight({ expected, mayClose, category }: Probe, answer: WireAnswer): boolean {
  const status = statusOf(answer);
  if (status === undefined) return answer === 'closed' && mayClose === true;
  // Every 2xx counts the same.
  const isOneOf =
    expected.includes(status) || (acknowledges(status) && expected.some(acknowledges));
  return isOneOf || (category !== 'genuine' && status >= 400 && status < 500);
}

/** Lowers the severity of a forged delivery that got a wrong answer but no acknowledgement. */
function severityAndCauseOf(
  { category, severity, fault, onlyFault }: Probe,
  answer: WireAnswer,
): [Severity, CauseId] {
  const status = statusOf(answer);
  if (category === 'genuine') {
    if (fault === 'refuses_genuine' && status !== undefined && status >= 500)
      return [severity, 'fails_genuine'];
    const isSilent = status === undefined && severity !== 'note' && fault !== 'one_at_a_time';
    return [severity, isSilent ? 'hangs' : fault];
  }
  if (onlyFault === true || severity === 'note' || isAcknowledged(answer)) return [severity, fault];
  if (status === undefined) {
    const isLate = fault === 'no_deadline' || fault === 'no_limit';
    return isLate ? [severity, fault] : ['medium', 'hangs'];
  }
  return status >= 500 ? [category === 'forged' ? 'medium' : 'low', 'crashes'] : ['low', fault];
}

/** Describes the server's answer: "accepted a delivery without a signature". */
export function titleOf(
  { what, category, fault }: Pick<Probe, 'what' | 'category' | 'fault'>,
  answer: WireAnswer,
): string {
  const status = statusOf(answer);
  if (fault === 'tells_reason') return 'sent different replies to different signature errors';
  if (fault === 'refuses_duplicates') return `did not acknowledge ${what}`;
  if (fault === 'parses_first') return 'parsed a body before verifying its signature';
  if (fault === 'one_at_a_time') return `did not serve ${what}`;
  if (status === undefined)
    return answer === 'closed' ? `closed the connection on ${what}` : `did not reply to ${what}`;
  if (isAcknowledged(answer))
    return `${category === 'invalid' ? 'acknowledged' : 'accepted'} ${what}`;
  return status < 500 ? `rejected ${what} (${status})` : `answered ${status} to ${what}`;
}
