import { check, validateBound, validateOptions } from '@paylink/core/internal';
import { ERROR_STATUSES } from '../base/emulator-error.js';
import {
  DEFAULTS,
  REPLAY_ANSWERS,
  type Assumed,
  type AssumedOptions,
  type DeliverySwitches,
} from './assumed.js';

/** The longest delay of a timer, in milliseconds. A longer timer would fire at once. */
export const LONGEST_TIMER = 2 ** 31 - 1;

/** Returns the fault of a value, or undefined for a valid value. */
type Check = (value: unknown) => string | undefined;

const isWhole = (value: unknown, least: number, most: number): boolean =>
  Number.isInteger(value) && (value as number) >= least && (value as number) <= most;

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null;

const whole =
  (least = 1, most = Number.MAX_SAFE_INTEGER): Check =>
  (value) =>
    isWhole(value, least, most) ? undefined : `must be a whole number from ${least} to ${most}`;

const oneOf =
  (...choices: readonly string[]): Check =>
  (value) =>
    choices.includes(value as string) ? undefined : `must be one of ${choices.join(', ')}`;

const aFunction: Check = (value) =>
  typeof value === 'function' ? undefined : 'must be a function';

const aReplay = oneOf(...REPLAY_ANSWERS);
const aDelay = whole(1, LONGEST_TIMER);

const CHECKS: Readonly<Record<keyof Assumed, Check>> = {
  errorBody: aFunction,
  errorStatus: faultOfStatuses,
  replayedKey: aReplay,
  replayedKeyOtherBody: aReplay,
  duplicateReference: oneOf('refuse', 'allow'),
  unknownFields: oneOf('ignore', 'refuse'),
  lowestAmount: whole(),
  highestAmount: whole(),
  referenceLength: whole(),
  descriptionLength: whole(),
  urlLength: whole(),
  idempotencyKeyLength: whole(),
  requestBytes: whole(),
  rateLimit: faultOfRateLimit,
  statusAnswer: aFunction,
  linksKept: whole(),
  amountBeforeChoice: (value) => (value === 'omit' ? undefined : whole(0)(value)),
  transitions: faultOfTransitions,
  notificationBody: aFunction,
  notificationContentType: (value) =>
    typeof value === 'string' && /^[\x20-\x7e]+$/.test(value)
      ? undefined
      : 'must be a string that headers allow',
  delivery: aFunction,
  acknowledged: aFunction,
  deliveryTimeout: aDelay,
  firstRetryDelay: aDelay,
  longestRetryDelay: aDelay,
  deliveriesKept: whole(),
};

/** Fills in the defaults. @throws ConfigurationError that names the switch */
export function createAssumed(options: AssumedOptions = {}): Assumed {
  check(isObject(options), 'assumed', 'must be an object');
  const given = Object.entries(options).filter(([, value]) => value !== undefined);
  for (const [name, value] of given) {
    const isKnown = Object.hasOwn(CHECKS, name);
    const valid = Object.keys(CHECKS).join(', ');
    check(isKnown, `assumed.${name}`, `is an unknown switch. Valid switches: ${valid}`);
    const fault = CHECKS[name as keyof Assumed](value);
    check(fault === undefined, `assumed.${name}`, fault ?? '');
  }
  const own = Object.assign(Object.create(null) as AssumedOptions, Object.fromEntries(given));
  return { ...DEFAULTS, ...own, errorStatus: { ...ERROR_STATUSES, ...own.errorStatus } } as Assumed;
}

/** Returns a copy of the switches of one delivery. @throws ConfigurationError */
export function validateDelivery(switches: DeliverySwitches): DeliverySwitches {
  const own = validateOptions(switches, ['times', 'delay', 'afterNext'], 'delivery');
  const { times, delay, afterNext } = own;
  if (times !== undefined) validateBound('delivery.times', times, 0, 100);
  if (delay !== undefined) validateBound('delivery.delay', delay, 0);
  const isFlag = afterNext === undefined || typeof afterNext === 'boolean';
  check(isFlag, 'delivery.afterNext', 'must be true or false');
  return own;
}

function faultOfRateLimit(limit: unknown): string | undefined {
  if (limit === 'off') return undefined;
  const isLimit =
    isObject(limit) &&
    Object.keys(limit).every((name) => name === 'requests' || name === 'seconds') &&
    isWhole(limit['requests'], 1, Number.MAX_SAFE_INTEGER) &&
    isWhole(limit['seconds'], 1, Number.MAX_SAFE_INTEGER);
  return isLimit ? undefined : "must be 'off' or { requests, seconds }, both whole numbers from 1";
}

function faultOfStatuses(statuses: unknown): string | undefined {
  if (!isObject(statuses)) return 'must be an object from error code to status';
  for (const [code, status] of Object.entries(statuses)) {
    if (!Object.hasOwn(ERROR_STATUSES, code)) return `has the unknown code ${code}`;
    if (!isWhole(status, 400, 599)) return `must give ${code} a status from 400 to 599`;
  }
  return undefined;
}

function faultOfTransitions(table: unknown): string | undefined {
  const statuses = Object.keys(DEFAULTS.transitions);
  const isList = (next: unknown): boolean =>
    Array.isArray(next) && next.every((entry) => statuses.includes(entry as string));
  return isObject(table) && statuses.every((status) => isList(table[status]))
    ? undefined
    : `must list the next statuses for each of ${statuses.join(', ')}`;
}
