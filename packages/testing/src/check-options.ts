/**
 * Rejects a misspelt option, which would have no effect.
 *
 * @throws TypeError that lists the valid options
 */
export function checkOptions(options: object, valid: readonly string[]): void {
  if (typeof options !== 'object' || options === null)
    throw new TypeError('options must be an object');
  for (const name of Object.keys(options))
    if (!valid.includes(name))
      throw new TypeError(`${name} is an unknown option. Valid options: ${valid.join(', ')}`);
}
