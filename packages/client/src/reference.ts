import { faultOfReference } from '@paylink/core';

/** Returns the fault of a reference in a path, or undefined. */
export function faultInPath(reference: unknown): string | undefined {
  // A URL drops these path segments, encoded or not, and the request would go to another address.
  const isDots = reference === '.' || reference === '..';
  return isDots ? 'must not be "." or "..", because URLs drop them' : faultOfReference(reference);
}
