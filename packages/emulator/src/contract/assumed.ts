import { ERROR_STATUSES, type ServiceErrorCode } from '../base/emulator-error.js';
import type { Payment, PaymentStatus } from './payment.js';

/** A successful payment, for the functions that shape its notification. */
export interface NotificationSource extends Payment {
  /** The token of the paid link. */
  readonly token: string;
}

/** How one notification travels. The default is once, at once. */
export interface DeliverySwitches {
  /** The copies that are sent at the same moment: 0 sends none, 2 sends a duplicate. Default 1. */
  readonly times?: number | undefined;
  /** Milliseconds before the first attempt. Default 0. */
  readonly delay?: number | undefined;
  /** Waits until the next notification is answered, so that the two arrive out of order. */
  readonly afterNext?: boolean | undefined;
}

/** A changed answer to a status read. Missing fields keep the right answer. */
export interface StatusAnswer {
  readonly status?: number | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly body?: unknown;
  /** Milliseconds before the answer. `Infinity` never answers. Default 0. */
  readonly delay?: number | undefined;
}

/**
 * The answer to a repeated Idempotency-Key: `same_link` the same 201, `same_link_200` the same with
 * 200, `refuse` 409 `idempotency_conflict`, `in_flight` 409 `idempotency_in_flight`,
 * `unprocessable` 422 `idempotency_mismatch`, `fail` 500 `replay_failed`. `ignore` ignores the key.
 */
export type ReplayAnswer = (typeof REPLAY_ANSWERS)[number];

// oxfmt-ignore
export const REPLAY_ANSWERS = [
  'same_link', 'same_link_200', 'refuse', 'in_flight', 'unprocessable', 'fail', 'ignore',
] as const;

/** The maximum of requests with a valid API key per window. The first one opens the window. */
export type RateLimit = 'off' | { readonly requests: number; readonly seconds: number };

/**
 * Behaviour of the emulator that the contract leaves open. The emulator chose each default, so your
 * integration must not depend on it: set another value in a test, and check that your code still
 * works.
 */
export interface Assumed {
  /** The body of an error. Default `{ error: { code, message } }`. */
  readonly errorBody: (error: { readonly code: string; readonly message: string }) => unknown;
  /** The status of each error. Missing errors keep their default. */
  readonly errorStatus: Readonly<Record<ServiceErrorCode, number>>;
  /** The answer to a repeated Idempotency-Key with the same body. Default `same_link`. */
  readonly replayedKey: ReplayAnswer;
  /** The same with another body. Default `refuse`. */
  readonly replayedKeyOtherBody: ReplayAnswer;
  /**
   * The answer to a second link with the same reference. Default `refuse`: 409 `reference_taken`.
   * With `allow`, the reference reads as the paid link, otherwise as the newest link.
   */
  readonly duplicateReference: 'refuse' | 'allow';
  /** More requests get a 429 with the remaining seconds in Retry-After. Default `off`. */
  readonly rateLimit: RateLimit;
  /**
   * Changes the answer to a status read, such as its amount, a 404, or a delay. `payment` is
   * undefined for an unknown reference. Default: no change.
   */
  readonly statusAnswer: (read: {
    readonly reference: string;
    readonly payment: Payment | undefined;
  }) => StatusAnswer | undefined;
  /** The maximum number of links. The emulator then forgets the oldest link. Default 10,000. */
  readonly linksKept: number;
  /**
   * The amount of a free-amount payment before the customer chose one. `omit` omits the field.
   * Default 0.
   */
  readonly amountBeforeChoice: number | 'omit';
  /**
   * The allowed status changes. Default: success and cancelled are final, and a failed payment can
   * be tried again.
   */
  readonly transitions: Readonly<Record<PaymentStatus, readonly PaymentStatus[]>>;
  /** The body of a notification. Default `{ reference }`, the only field in the contract. */
  readonly notificationBody: (payment: NotificationSource) => Readonly<Record<string, unknown>>;
  /** How a payment's notification travels, unless `pay` says so. Default: once, at once. */
  readonly delivery: (payment: NotificationSource) => DeliverySwitches;
  /** Milliseconds for one attempt. Default 10,000. */
  readonly deliveryTimeout: number;
  /** The longest wait before the first retry, in milliseconds. Retries double it. Default 500. */
  readonly firstRetryDelay: number;
  /** The longest wait between two attempts, in milliseconds. Default 30,000. */
  readonly longestRetryDelay: number;
  /** The maximum of ended deliveries to keep. Default 1,000. Pending ones always stay. */
  readonly deliveriesKept: number;
}

export type AssumedOptions = {
  readonly [Name in keyof Omit<Assumed, 'errorStatus'>]?: Assumed[Name] | undefined;
} & { readonly errorStatus?: Partial<Assumed['errorStatus']> | undefined };

export const DEFAULTS: Assumed = {
  errorBody: ({ code, message }) => ({ error: { code, message } }),
  errorStatus: ERROR_STATUSES,
  replayedKey: 'same_link',
  replayedKeyOtherBody: 'refuse',
  duplicateReference: 'refuse',
  rateLimit: 'off',
  statusAnswer: () => undefined,
  linksKept: 10_000,
  amountBeforeChoice: 0,
  transitions: {
    pending: ['success', 'failed', 'cancelled'],
    failed: ['success', 'failed', 'cancelled'],
    cancelled: [],
    success: [],
  },
  notificationBody: ({ reference }) => ({ reference }),
  delivery: () => ({}),
  deliveryTimeout: 10_000,
  firstRetryDelay: 500,
  longestRetryDelay: 30_000,
  deliveriesKept: 1_000,
};
