import { isWellFormed } from './bytes.js';

/**
 * Returns the fault of a merchant's reference, or undefined. The reference is an opaque string that
 * must fit into SQL texts and URLs.
 */
export function faultOfReference(reference: unknown): string | undefined {
  if (typeof reference !== 'string') return 'must be a string';
  if (reference.trim() === '') return 'must not be blank';
  if (reference.includes('\0')) return 'must not contain NUL';
  // UTF-8 writes every unpaired surrogate as the same bytes, so two references would become one.
  return isWellFormed(reference) ? undefined : 'must not contain unpaired surrogates';
}
