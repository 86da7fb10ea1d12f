import type { DeliveryAttempt } from '../deliveries/attempt.js';
import { BROKEN_OFF } from '../deliveries/send.js';

/**
 * What can be wrong with a notification, or with the way it comes. Each is a row of the attacks that a receiver has to withstand;
 * the answers are those of a receiver that holds to the contract, and of Paylink's own where the contract leaves a choice.
 */

/** What a receiver answers that does it right. */
export interface Expectation {
  /** The statuses; with several notifications each has one of them. */
  readonly statuses: readonly number[];
  /** Whether no answer at all is right as well. */
  readonly silence?: true;
  /** What must hold whatever the status: an answer does not show it, your orders do. */
  readonly effect: string;
}

export interface FaultDescription {
  /** The rows of ATTACKS.md. */
  readonly rows: readonly string[];
  /** What is sent. */
  readonly sends: string;
  readonly expected: Expectation;
}

const ONE_CREDIT = 'the order is credited once';
const NO_EFFECT = 'nothing is credited';

/** Every fault that `sendFault` knows. */
export const FAULTS = {
  duplicate: {
    rows: ['H02'],
    sends: 'the genuine notification, ten times at once',
    expected: { statuses: [200, 503], effect: ONE_CREDIT },
  },
  repeated: {
    rows: ['H01', 'H03', 'H11'],
    sends: 'the genuine notification twice, the second after the answer to the first',
    expected: { statuses: [200], effect: ONE_CREDIT },
  },
  late: {
    rows: ['H01', 'H07'],
    sends: 'the genuine notification, after a wait',
    expected: { statuses: [200], effect: ONE_CREDIT },
  },
  reordered: {
    rows: ['H07', 'E04'],
    sends: 'the genuine notification, and after it the one of an earlier event of another kind',
    expected: { statuses: [200], effect: 'the order stays paid' },
  },
  tampered: {
    rows: ['C01'],
    sends: 'the genuine signature over a body in which one letter was changed',
    expected: { statuses: [401], effect: NO_EFFECT },
  },
  wrong_secret: {
    rows: ['B13', 'H09'],
    sends: 'the genuine body, signed with another secret',
    expected: { statuses: [401], effect: NO_EFFECT },
  },
  unsigned: {
    rows: ['A01'],
    sends: 'the genuine body without a signature',
    expected: { statuses: [401], effect: NO_EFFECT },
  },
  relabelled: {
    rows: ['E06', 'C24'],
    sends: 'a rightly signed body of another kind under the event payment.succeeded: the signature does not cover that header',
    expected: { statuses: [200, 400, 503], effect: 'it is credited only if the API says success' },
  },
  unknown_event: {
    rows: ['E04', 'E07'],
    sends: 'the genuine body and signature under an event of another kind',
    expected: { statuses: [200], effect: NO_EFFECT },
  },
  re_serialised: {
    rows: ['C02'],
    sends: 'the genuine signature over the same JSON in other bytes',
    expected: { statuses: [401], effect: NO_EFFECT },
  },
  gzip: {
    rows: ['D12'],
    sends: 'the genuine body compressed under Content-Encoding: gzip, with the signature of the bytes before',
    expected: { statuses: [415], effect: NO_EFFECT },
  },
  two_signatures: {
    rows: ['A04'],
    sends: 'two signature lines, the genuine one and a forged one',
    expected: { statuses: [401], effect: NO_EFFECT },
  },
  bom: {
    rows: ['C06'],
    sends: 'a byte order mark in front of the JSON, rightly signed with it',
    expected: { statuses: [400], effect: NO_EFFECT },
  },
  slow: {
    rows: ['D06', 'D10'],
    sends: 'the genuine notification, a byte at a time',
    expected: { statuses: [200, 408], effect: 'credited if 200, and not before the last byte' },
  },
  aborted: {
    rows: ['D07'],
    sends: 'half of the body, then the connection is reset',
    expected: { statuses: [400], silence: true, effect: NO_EFFECT },
  },
} as const satisfies Record<string, FaultDescription>;

export type Fault = keyof typeof FAULTS;

export const FAULT_NAMES = Object.keys(FAULTS) as readonly Fault[];

export function isFault(name: unknown): name is Fault {
  return typeof name === 'string' && Object.hasOwn(FAULTS, name);
}

/** Whether a receiver that does it right could have answered this, or kept silent where there was no answer. */
export function isExpected(fault: Fault, { response, error }: Pick<DeliveryAttempt, 'response' | 'error'>): boolean {
  const { statuses, silence }: Expectation = FAULTS[fault].expected;
  return response === undefined ? silence === true && error === BROKEN_OFF : statuses.includes(response.status);
}

export function describeFault(fault: Fault): FaultDescription {
  return FAULTS[fault];
}
