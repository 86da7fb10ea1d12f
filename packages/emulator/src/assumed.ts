import { ConfigurationError } from '@paylink/core';
import { isEventKind } from '@paylink/core/internal';
import { LONGEST_TIMER } from './longest-timer.js';
import type { Payment, PaymentStatus } from './payments/payment.js';
import { ERROR_STATUSES, type ServiceErrorCode } from './api/service-error.js';

/** The argument of `notificationBody`: a successful payment. */
export interface NotificationSource extends Payment {
  /** The token of the paid link. */
  readonly token: string;
}

/**
 * The answer to a repeated Idempotency-Key: `same_link` the same 201, `same_link_200` the same with
 * 200, `refuse` 409 `idempotency_conflict`, `in_flight` 409 `idempotency_in_flight`,
 * `unprocessable` 422 `idempotency_mismatch`, `fail` 500 `replay_failed`. `ignore` ignores the key.
 */
export type ReplayAnswer = (typeof REPLAY_ANSWERS)[number];

const REPLAY_ANSWERS = [
  'same_link',
  'same_link_200',
  'refuse',
  'in_flight',
  'unprocessable',
  'fail',
  'ignore',
] as const;

/** The most requests with a valid API key per window of `seconds`, or `off`. */
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
  /**
   * The answer to a repeated Idempotency-Key with the same body. Default `same_link`: the same 201,
   * byte for byte.
   */
  readonly replayedKey: ReplayAnswer;
  /**
   * The answer to a repeated Idempotency-Key with another body. Default `refuse`: 409
   * `idempotency_conflict`.
   */
  readonly replayedKeyOtherBody: ReplayAnswer;
  /**
   * The answer to a second link with the same reference. Default `refuse`: 409 `reference_taken`.
   * With `allow`, the reference reads as the paid link, otherwise as the newest link.
   */
  readonly duplicateReference: 'refuse' | 'allow';
  /** Request fields that the contract does not list. Default `ignore`. */
  readonly unknownFields: 'ignore' | 'refuse';
  /** The bounds of an amount. Default 1 and the largest safe integer. */
  readonly lowestAmount: number;
  readonly highestAmount: number;
  /** The most characters of a reference. Default 255. */
  readonly referenceLength: number;
  /** The most characters of a description. Default 1,000. */
  readonly descriptionLength: number;
  /** The most characters of a return_url or cancel_url. Default 2,048. */
  readonly urlLength: number;
  /** The most characters of an Idempotency-Key. Default 255. */
  readonly idempotencyKeyLength: number;
  /** The most bytes of a request body. Default 65,536. */
  readonly requestBytes: number;
  /**
   * Requests beyond `requests` in `seconds` get a 429 `rate_limited` with the remaining seconds in
   * Retry-After. The first request opens the window. Requests without the right API key do not
   * count. Default `off`.
   */
  readonly rateLimit: RateLimit;
  /**
   * The most kept links, with their keys. The emulator then forgets the oldest link. Default
   * 10,000.
   */
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
  /** The Content-Type of a notification. Default `application/json`. */
  readonly notificationContentType: string;
  /**
   * Returns true if a receiver's status ends the delivery. Otherwise the emulator retries. Default:
   * 200 to 299.
   */
  readonly acknowledged: (status: number) => boolean;
  /** Milliseconds for one attempt. Default 10,000. */
  readonly deliveryTimeout: number;
  /**
   * The longest wait before the first retry, in milliseconds. Each retry doubles the wait. Default
   * 500.
   */
  readonly firstRetryDelay: number;
  /** The longest wait between two attempts, in milliseconds. Default 30,000. */
  readonly longestRetryDelay: number;
  /** The most concurrent notifications. Others wait. Default 64. */
  readonly deliveriesAtOnce: number;
  /**
   * The event that faults use for a kind other than `payment.succeeded`. The contract does not name
   * another kind. Default `payment.failed`.
   */
  readonly otherEvent: string;
  /**
   * The newest attempts per delivery in `deliveries()`. Very many deliveries lower this number.
   * Default 50.
   */
  readonly attemptsKept: number;
  /**
   * The most acknowledged deliveries in `deliveries()`. The emulator never forgets pending
   * deliveries. Default 1,000.
   */
  readonly deliveriesKept: number;
  /** The most API requests in `requests()` and the dashboard. Default 1,000. */
  readonly requestsKept: number;
}

export type AssumedOptions = Partial<Omit<Assumed, 'errorStatus'>> & {
  readonly errorStatus?: Partial<Assumed['errorStatus']> | undefined;
};

const ASSUMED: Assumed = {
  errorBody: ({ code, message }) => ({ error: { code, message } }),
  errorStatus: ERROR_STATUSES,
  replayedKey: 'same_link',
  replayedKeyOtherBody: 'refuse',
  duplicateReference: 'refuse',
  unknownFields: 'ignore',
  lowestAmount: 1,
  highestAmount: Number.MAX_SAFE_INTEGER,
  referenceLength: 255,
  descriptionLength: 1_000,
  urlLength: 2_048,
  idempotencyKeyLength: 255,
  requestBytes: 65_536,
  rateLimit: 'off',
  linksKept: 10_000,
  amountBeforeChoice: 0,
  transitions: {
    pending: ['success', 'failed', 'cancelled'],
    failed: ['success', 'failed', 'cancelled'],
    cancelled: [],
    success: [],
  },
  notificationBody: ({ reference }) => ({ reference }),
  notificationContentType: 'application/json',
  acknowledged: (status) => status >= 200 && status <= 299,
  deliveryTimeout: 10_000,
  firstRetryDelay: 500,
  longestRetryDelay: 30_000,
  deliveriesAtOnce: 64,
  otherEvent: 'payment.failed',
  attemptsKept: 50,
  deliveriesKept: 1_000,
  requestsKept: 1_000,
};

const CHOICES: Readonly<Record<string, readonly string[]>> = {
  replayedKey: REPLAY_ANSWERS,
  replayedKeyOtherBody: REPLAY_ANSWERS,
  duplicateReference: ['refuse', 'allow'],
  unknownFields: ['ignore', 'refuse'],
};

const TIMERS = ['deliveryTimeout', 'firstRetryDelay', 'longestRetryDelay'];

/** Fills in the defaults. @throws ConfigurationError that names the option */
export function readAssumed(options: AssumedOptions = {}): Assumed {
  for (const [name, value] of Object.entries(options)) {
    if (!Object.hasOwn(ASSUMED, name)) {
      throw new ConfigurationError(
        `assumed.${name}`,
        `is an unknown switch. Valid switches: ${Object.keys(ASSUMED).join(', ')}`,
      );
    }
    if (value !== undefined) checkSwitch(name as keyof Assumed, value);
  }
  const given: AssumedOptions = Object.fromEntries(
    Object.entries(options).filter(([, value]) => value !== undefined),
  );
  return { ...ASSUMED, ...given, errorStatus: { ...ERROR_STATUSES, ...given.errorStatus } };
}

function checkSwitch(name: keyof Assumed, value: unknown): void {
  const fault =
    name === 'amountBeforeChoice' && value === 'omit' ? undefined : faultOf(name, value);
  if (fault !== undefined) throw new ConfigurationError(`assumed.${name}`, fault);
}

function faultOf(name: keyof Assumed, value: unknown): string | undefined {
  const choices = CHOICES[name];
  if (choices !== undefined)
    return choices.includes(value as string) ? undefined : `must be one of ${choices.join(', ')}`;
  if (name === 'errorStatus') return faultOfStatuses(value);
  if (name === 'rateLimit') return faultOfRateLimit(value);
  if (name === 'transitions') return faultOfTransitions(value);
  if (name === 'otherEvent')
    return isEventKind(value)
      ? undefined
      : 'must have 1 to 128 of the characters a-z, 0-9, ".", "_" and "-"';
  if (name === 'notificationContentType')
    return isHeaderValue(value) ? undefined : 'must be a string that headers allow';
  if (typeof value !== typeof ASSUMED[name]) return `must be a ${typeof ASSUMED[name]}`;
  return typeof value === 'number' ? faultOfNumber(name, value) : undefined;
}

function isHeaderValue(value: unknown): boolean {
  return typeof value === 'string' && /^[\x20-\x7e]+$/.test(value);
}

function faultOfNumber(name: string, value: number): string | undefined {
  const least = name === 'amountBeforeChoice' ? 0 : 1;
  const most = TIMERS.includes(name) ? LONGEST_TIMER : Number.MAX_SAFE_INTEGER;
  return Number.isInteger(value) && value >= least && value <= most
    ? undefined
    : `must be a whole number from ${least} to ${most}`;
}

function faultOfRateLimit(value: unknown): string | undefined {
  if (value === 'off') return undefined;
  const limit = value as Readonly<Record<string, unknown>> | null;
  const isWhole = (part: unknown): boolean => Number.isSafeInteger(part) && (part as number) >= 1;
  const isLimit =
    typeof limit === 'object' &&
    limit !== null &&
    Object.keys(limit).every((name) => name === 'requests' || name === 'seconds');
  return isLimit && isWhole(limit['requests']) && isWhole(limit['seconds'])
    ? undefined
    : "must be 'off' or { requests, seconds }, both whole numbers from 1";
}

function faultOfStatuses(value: unknown): string | undefined {
  if (typeof value !== 'object' || value === null)
    return 'must be an object from error code to status';
  for (const [code, status] of Object.entries(value)) {
    if (!Object.hasOwn(ERROR_STATUSES, code)) return `has the unknown code ${code}`;
    if (!Number.isInteger(status) || status < 400 || status > 599)
      return `must give ${code} a status from 400 to 599`;
  }
  return undefined;
}

function faultOfTransitions(value: unknown): string | undefined {
  const statuses = Object.keys(ASSUMED.transitions);
  const table = value as Readonly<Record<string, unknown>> | null;
  const whole =
    typeof table === 'object' &&
    table !== null &&
    statuses.every((status) => {
      const next = table[status];
      return Array.isArray(next) && next.every((entry) => statuses.includes(entry as string));
    });
  return whole ? undefined : `must list the next statuses for each of ${statuses.join(', ')}`;
}
