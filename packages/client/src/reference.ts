import { faultOfReference } from '@paylink/core';

/** The fault of a reference that the client puts into a path, or undefined. */
export function faultInPath(reference: unknown): string | undefined {
  // A URL drops these as path segments, encoded or not, so another address would be asked.
  const isDots = reference === '.' || reference === '..';
  return isDots ? 'must not be "." or "..", which no path can hold' : faultOfReference(reference);
}
