import { check } from './errors.js';

/**
 * Copies the own properties of `options` into an object without a prototype, so that a polluted
 * `Object.prototype` cannot set an option.
 *
 * @throws ConfigurationError for an unknown option: a misspelt option could switch a protection off
 */
export function validateOptions<Options extends object>(
  options: Options,
  known: readonly string[],
  name = 'options',
): Options {
  check(typeof options === 'object' && options !== null, name, 'must be an object');
  const own = Object.assign(Object.create(null) as Options, options);
  for (const [option, value] of Object.entries(own)) {
    if (known.includes(option) || value === undefined) continue;
    check(false, option, `is an unknown option. Valid options: ${known.join(', ')}`);
  }
  return own;
}

/** The longest delay of a timer in milliseconds. A longer delay would fire immediately. */
export const LONGEST_TIMER = 2_147_483_647;

export function validateBound(option: string, value: number, least = 1, most = LONGEST_TIMER) {
  const isBound = Number.isInteger(value) && value >= least && value <= most;
  check(isBound, option, `must be a whole number from ${least} to ${most}`);
  return value;
}
