import { isWellFormed } from './text.js';

/**
 * What is wrong with a reference, if anything is. What passes can stand in a path, and is what `@paylink/core` takes from a
 * notification, so that a link is never made whose payment could not be read or credited.
 */
export function faultOfReference(reference: unknown): string | undefined {
  if (typeof reference !== 'string') return 'must be a string';
  if (reference.trim() === '') return 'must not be blank';
  // A URL drops these as path segments, encoded or not, so another address would be asked.
  if (reference === '.' || reference === '..') return 'must not be "." or "..", which no path can hold';
  if (reference.includes('\0')) return 'must not have NUL';
  if (!isWellFormed(reference)) return 'must not have lone surrogates, which UTF-8 cannot say';
  return undefined;
}
