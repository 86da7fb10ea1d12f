/**
 * The fault of a reference, or nothing. A reference that passes can be part of a path, and `@paylink/core` accepts it in a
 * notification: every link has a payment that can be read and credited.
 */
export function faultOfReference(reference: unknown): string | undefined {
  if (typeof reference !== 'string') return 'must be a string';
  if (reference.trim() === '') return 'must not be blank';
  // A URL drops these as path segments, encoded or not, so another address would be asked.
  if (/^\.\.?$/.test(reference)) return 'must not be "." or "..", which no path can hold';
  if (reference.includes('\0')) return 'must not contain NUL';
  return faultOfText(reference);
}

/** The fault of a lone surrogate, which UTF-8 cannot encode and which would read as other texts too. */
export function faultOfText(text: string): string | undefined {
  const isWellFormed = !/\p{Surrogate}/u.test(text);
  return isWellFormed ? undefined : 'must not contain lone surrogates, which UTF-8 cannot encode';
}
