import { ERROR_STATUSES, type ServiceErrorCode } from '../base/emulator-error.js';
import type { Payment, PaymentStatus } from './payment.js';

/** Controls how a notification is delivered. Default: once, immediately. */
export interface DeliverySwitches {
  /** The number of simultaneous copies: 0 sends none, 2 sends a duplicate. Default 1. */
  readonly times?: number | undefined;
  /** Milliseconds before the first attempt. Default 0. */
  readonly delay?: number | undefined;
  /** Waits until your server has answered the next notification, so the two arrive out of order. */
  readonly afterNext?: boolean | undefined;
}

/**
 * The response to a repeated Idempotency-Key. `same_link`: the same 201. `same_link_200`: the same
 * body with 200. `refuse`: the error `idempotency_conflict`. `ignore`: as without a key.
 */
export type ReplayAnswer = (typeof REPLAY_ANSWERS)[number];

export const REPLAY_ANSWERS = ['same_link', 'same_link_200', 'refuse', 'ignore'] as const;

/** The maximum number of authenticated requests per window. The first one opens the window. */
export type RateLimit = 'off' | { readonly requests: number; readonly seconds: number };

/**
 * Behaviour that the contract leaves open. The emulator chose each default, so your integration
 * must not depend on it. In a test, set a different value and check that your code still works.
 */
export interface Assumed {
  /** Returns the body of an error. Default `{ error: { code, message } }`. */
  readonly errorBody: (error: { readonly code: string; readonly message: string }) => unknown;
  /** The status of each error. Missing errors keep their default. */
  readonly errorStatus: Readonly<Record<ServiceErrorCode, number>>;
  /** The response to a repeated Idempotency-Key with the same body. Default `same_link`. */
  readonly replayedKey: ReplayAnswer;
  /** The response to a repeated Idempotency-Key with a different body. Default `refuse`. */
  readonly replayedKeyOtherBody: ReplayAnswer;
  /**
   * The response to a second link with the same reference. Default `refuse`: 409 `reference_taken`.
   * With `allow`, a status read returns the paid link, or the newest link if none is paid.
   */
  readonly duplicateReference: 'refuse' | 'allow';
  /** Further requests get a 429 with the remaining seconds in Retry-After. Default `off`. */
  readonly rateLimit: RateLimit;
  /**
   * Replaces the response to a status read, or delays it. `payment` is undefined for an unknown
   * reference. Default: the correct response.
   */
  readonly statusAnswer: (read: {
    readonly reference: string;
    readonly payment: Payment | undefined;
  }) => Response | undefined | Promise<Response | undefined>;
  /**
   * The amount of a free-amount payment before the customer chooses one. `omit` omits the field.
   * Default 0.
   */
  readonly amountBeforeChoice: number | 'omit';
  /**
   * The allowed status changes. Default: success and cancelled are final, and a failed payment can
   * be tried again.
   */
  readonly transitions: Readonly<Record<PaymentStatus, readonly PaymentStatus[]>>;
  /** Returns a notification's body. Default `{ reference }`, the only field in the contract. */
  readonly notificationBody: (payment: Payment) => Readonly<Record<string, unknown>>;
  /** Controls a payment's delivery, unless `pay` overrides it. Default: once, immediately. */
  readonly delivery: (payment: Payment) => DeliverySwitches;
  /** The time limit for one attempt, in milliseconds. Default 10,000. */
  readonly deliveryTimeout: number;
  /** The upper limit of the first wait in milliseconds. Doubles with each failure. Default 500. */
  readonly firstRetryDelay: number;
  /** The longest wait between two attempts, in milliseconds. Default 30,000. */
  readonly longestRetryDelay: number;
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
};
