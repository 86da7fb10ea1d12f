/**
 * Faults of a notification or of its delivery. The expected answers follow the contract. If the
 * contract leaves a choice, the emulator accepts every choice.
 */

/**
 * The meaning of a status: `acknowledge` ends the delivery, `refuse` is 400 to 499, `decline` is
 * the same without 401 and 403 (the receiver believed the sender, but did not credit), `retry` is
 * 429 or 503, `silence` is a broken connection.
 */
export type Reaction = 'acknowledge' | 'refuse' | 'decline' | 'retry' | 'silence';

/** The answers of a correct receiver. */
export type Expectation = Readonly<{
  /** The statuses of Paylink's own receivers. */
  statuses: readonly number[];
  /** The possible answers of a correct receiver to each notification of the fault. */
  reactions: readonly Reaction[];
  /** Right answers that are less safe than a stricter one. */
  tolerated?: readonly Reaction[];
  /**
   * Set if at least one answer must acknowledge: if the receiver asks for a retry each time, it
   * credits nothing.
   */
  mustAcknowledge?: true;
  /** The result for every status. Only your orders show it. */
  effect: string;
}>;

export interface FaultDescription {
  /** The rows of the table of attacks. */
  readonly rows: readonly string[];
  /** The expected answers for a paid payment. */
  readonly expected: Expectation;
  /** Set if the notification is genuine. The expected answer then depends on the payment. */
  readonly isGenuine?: true;
}

const ONE_CREDIT = 'the order is credited once';
const NO_EFFECT = 'nothing is credited';

/** The faults of `sendFault`. */
export const FAULTS = {
  duplicate: {
    rows: ['H02'],
    expected: {
      statuses: [200, 503],
      reactions: ['acknowledge', 'retry'],
      mustAcknowledge: true,
      effect: ONE_CREDIT,
    },
    isGenuine: true,
  },
  repeated: {
    rows: ['H01', 'H03', 'H11'],
    expected: { statuses: [200], reactions: ['acknowledge'], effect: ONE_CREDIT },
    isGenuine: true,
  },
  late: {
    rows: ['H01', 'H07'],
    expected: { statuses: [200], reactions: ['acknowledge'], effect: ONE_CREDIT },
    isGenuine: true,
  },
  reordered: {
    rows: ['H07', 'E04'],
    expected: {
      statuses: [200],
      reactions: ['acknowledge'],
      tolerated: ['decline'],
      mustAcknowledge: true,
      effect: 'the order stays paid',
    },
    isGenuine: true,
  },
  tampered: {
    rows: ['C01'],
    expected: { statuses: [401], reactions: ['refuse'], effect: NO_EFFECT },
  },
  wrong_secret: {
    rows: ['B13', 'H09'],
    expected: { statuses: [401], reactions: ['refuse'], effect: NO_EFFECT },
  },
  unsigned: {
    rows: ['A01'],
    expected: { statuses: [401], reactions: ['refuse'], effect: NO_EFFECT },
  },
  relabelled: {
    rows: ['E06', 'C24'],
    expected: {
      statuses: [200],
      reactions: ['acknowledge'],
      effect: 'the order is credited only if the API reports success',
    },
    isGenuine: true,
  },
  unknown_event: {
    rows: ['E04', 'E07'],
    expected: {
      statuses: [200],
      reactions: ['acknowledge'],
      tolerated: ['decline'],
      effect: NO_EFFECT,
    },
  },
  re_serialised: {
    rows: ['C02'],
    expected: { statuses: [401], reactions: ['refuse'], effect: NO_EFFECT },
  },
  gzip: {
    rows: ['D12'],
    expected: { statuses: [415], reactions: ['refuse'], effect: NO_EFFECT },
  },
  two_signatures: {
    rows: ['A04'],
    expected: {
      statuses: [401],
      reactions: ['refuse'],
      tolerated: ['acknowledge', 'retry'],
      effect: 'credited only if acknowledged',
    },
  },
  bom: {
    rows: ['C06'],
    expected: {
      statuses: [400],
      reactions: ['refuse'],
      tolerated: ['acknowledge', 'retry'],
      effect: 'credited only if acknowledged',
    },
  },
  slow: {
    rows: ['D06', 'D10'],
    expected: {
      statuses: [200, 408],
      reactions: ['acknowledge', 'decline'],
      effect: 'credited if acknowledged, but not before the last byte',
    },
    isGenuine: true,
  },
  aborted: {
    rows: ['D07'],
    expected: {
      statuses: [400],
      reactions: ['refuse', 'silence'],
      effect: NO_EFFECT,
    },
  },
} as const satisfies Record<string, FaultDescription>;

export type Fault = keyof typeof FAULTS;

export const FAULT_NAMES = Object.keys(FAULTS) as readonly Fault[];

export function isFault(name: unknown): name is Fault {
  return typeof name === 'string' && Object.hasOwn(FAULTS, name);
}

export function describeFault(fault: Fault): FaultDescription {
  return FAULTS[fault];
}
