import { check } from './errors.js';

/** The longest that a timer can be set for; a longer one would fire at once. */
const LONGEST_TIMER = 2_147_483_647;

/**
 * A misspelt option would silently switch a protection off.
 *
 * @param name of what holds the options
 * @throws ConfigurationError that lists the valid options.
 */
export function checkNames(options: unknown, known: readonly string[], name = 'options'): asserts options is object {
  check(typeof options === 'object' && options !== null, name, 'must be an object');
  for (const [option, value] of Object.entries(options)) {
    check(known.includes(option) || value === undefined, option, `is an unknown option. Valid options: ${known.join(', ')}`);
  }
}

/**
 * Gives the bound. One that cannot be read throws, since ignoring it would switch the protection off.
 *
 * @param most default: as many milliseconds as a timer can be set for
 * @throws ConfigurationError
 */
export function readBound(option: string, bound: number, least = 1, most = LONGEST_TIMER): number {
  check(Number.isInteger(bound) && bound >= least && bound <= most, option, `must be a whole number from ${least} to ${most}`);
  return bound;
}
