import type { DeliveryAttempt } from '../deliveries/attempt.js';
import { BROKEN_OFF } from '../deliveries/send.js';
import type { PaymentStatus } from '../payments/payment.js';
import { describeFault, type Expectation, type Fault, type Reaction } from './faults.js';

/**
 * `tolerated`: right, but less safe than a stricter answer. `unexpected`: a correct receiver does
 * not answer so.
 */
export type Verdict = 'expected' | 'tolerated' | 'unexpected';

/**
 * The answers to a genuine notification of an unpaid payment. A receiver that asks the API does not
 * credit: it asks for a retry, declines, or acknowledges without a credit. The contract also lets a
 * receiver credit without asking.
 */
const UNPAID: Expectation = {
  statuses: [200, 503],
  reactions: ['acknowledge', 'retry', 'decline'],
  effect: 'nothing is credited by a server that asks the API',
};

/** Returns the expected answers to a fault for a payment status. */
export function expectationOf(fault: Fault, status: PaymentStatus): Expectation {
  const { expected, isGenuine } = describeFault(fault);
  return isGenuine === true && status !== 'success' ? UNPAID : expected;
}

export type Acknowledged = (status: number) => boolean;

/**
 * Judges the answers to a fault. If the payment had several statuses meanwhile, the best verdict
 * counts.
 */
export function judge(
  fault: Fault,
  statuses: readonly PaymentStatus[],
  attempts: readonly DeliveryAttempt[],
  acknowledged: Acknowledged,
): Verdict {
  const verdicts = statuses.map((status) =>
    judgeAll(expectationOf(fault, status), attempts, acknowledged),
  );
  return (
    (['expected', 'tolerated'] as const).find((verdict) => verdicts.includes(verdict)) ??
    'unexpected'
  );
}

function judgeAll(
  expectation: Expectation,
  attempts: readonly DeliveryAttempt[],
  acknowledged: Acknowledged,
): Verdict {
  const verdicts = attempts.map((attempt) => judgeOne(expectation, attempt, acknowledged));
  const lacksOne =
    expectation.mustAcknowledge === true &&
    !attempts.some(({ response }) => response !== undefined && acknowledged(response.status));
  if (lacksOne || attempts.length === 0 || verdicts.includes('unexpected')) return 'unexpected';
  return verdicts.includes('tolerated') ? 'tolerated' : 'expected';
}

export function judgeOne(
  { reactions, tolerated = [] }: Expectation,
  attempt: DeliveryAttempt,
  acknowledged: Acknowledged,
): Verdict {
  const seen = reactionsOf(attempt, acknowledged);
  if (seen.some((reaction) => reactions.includes(reaction))) return 'expected';
  return seen.some((reaction) => tolerated.includes(reaction)) ? 'tolerated' : 'unexpected';
}

function reactionsOf({ response, error }: DeliveryAttempt, acknowledged: Acknowledged): Reaction[] {
  if (response === undefined) return error === BROKEN_OFF ? ['silence'] : [];
  const { status } = response;
  if (acknowledged(status)) return ['acknowledge'];
  if (status === 429) return ['retry', 'refuse'];
  if (status === 503) return ['retry'];
  if (status === 401 || status === 403) return ['refuse'];
  return status >= 400 && status <= 499 ? ['refuse', 'decline'] : [];
}
