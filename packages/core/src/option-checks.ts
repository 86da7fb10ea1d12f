import { check } from './errors.js';

/** The longest that a timer can be set for; a longer one would fire at once. */
const LONGEST_TIMER = 2_147_483_647;

/** A misspelt option would be a protection that is silently off. @throws ConfigurationError that lists the valid options. */
export function checkNames(options: unknown, known: readonly string[]): asserts options is object {
  check(typeof options === 'object' && options !== null, 'options', 'must be an object');
  for (const [name, value] of Object.entries(options)) {
    check(known.includes(name) || value === undefined, name, `is an unknown option. Valid options: ${known.join(', ')}`);
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
