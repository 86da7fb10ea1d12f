import { check, validateBound, validateOptions } from '@paylink/core/internal';
import { ERROR_STATUSES } from '../base/emulator-error.js';
import {
  DEFAULTS,
  REPLAY_ANSWERS,
  type Assumed,
  type AssumedOptions,
  type DeliverySwitches,
} from './assumed.js';

/** @throws ConfigurationError with the switch's name */
type Check = (name: string, value: unknown) => unknown;

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null;

const oneOf =
  (...choices: readonly string[]): Check =>
  (name, value) =>
    check(choices.includes(value as string), name, `must be one of ${choices.join(', ')}`);

const aFunction: Check = (name, value) =>
  check(typeof value === 'function', name, 'must be a function');

const aReplay = oneOf(...REPLAY_ANSWERS);
const aDelay: Check = (name, value) => validateBound(name, value as number);

const CHECKS: Readonly<Record<keyof Assumed, Check>> = {
  errorBody: aFunction,
  errorStatus: checkStatuses,
  replayedKey: aReplay,
  replayedKeyOtherBody: aReplay,
  duplicateReference: oneOf('refuse', 'allow'),
  rateLimit: checkRateLimit,
  statusAnswer: aFunction,
  amountBeforeChoice: (name, value) =>
    value === 'omit' || validateBound(name, value as number, 0, Number.MAX_SAFE_INTEGER),
  transitions: checkTransitions,
  notificationBody: aFunction,
  delivery: aFunction,
  deliveryTimeout: aDelay,
  firstRetryDelay: aDelay,
  longestRetryDelay: aDelay,
};

/** Fills in the defaults. @throws ConfigurationError with the switch's name */
export function createAssumed(options: AssumedOptions = {}): Assumed {
  check(isObject(options), 'assumed', 'must be an object');
  const given = Object.entries(options).filter(([, value]) => value !== undefined);
  for (const [name, value] of given) {
    const valid = Object.keys(CHECKS).join(', ');
    const problem = `is an unknown switch. Valid switches: ${valid}`;
    check(Object.hasOwn(CHECKS, name), `assumed.${name}`, problem);
    CHECKS[name as keyof Assumed](`assumed.${name}`, value);
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

function checkRateLimit(name: string, limit: unknown): void {
  const isWhole = (value: unknown): boolean => Number.isSafeInteger(value) && (value as number) > 0;
  const isLimit =
    isObject(limit) &&
    Object.keys(limit).sort().join() === 'requests,seconds' &&
    Object.values(limit).every(isWhole);
  const problem = "must be 'off' or { requests, seconds }, both whole numbers from 1";
  check(limit === 'off' || isLimit, name, problem);
}

function checkStatuses(name: string, statuses: unknown): void {
  check(isObject(statuses), name, 'must be an object that maps error codes to statuses');
  for (const [code, status] of Object.entries(statuses)) {
    check(Object.hasOwn(ERROR_STATUSES, code), name, `has the unknown code ${code}`);
    const isStatus =
      Number.isInteger(status) && (status as number) > 399 && (status as number) < 600;
    check(isStatus, name, `must map ${code} to a status from 400 to 599`);
  }
}

function checkTransitions(name: string, table: unknown): void {
  const statuses = Object.keys(DEFAULTS.transitions);
  const isList = (next: unknown): boolean =>
    Array.isArray(next) && next.every((entry) => statuses.includes(entry as string));
  const isTable = isObject(table) && statuses.every((status) => isList(table[status]));
  check(isTable, name, `must list the next statuses for each of ${statuses.join(', ')}`);
}
