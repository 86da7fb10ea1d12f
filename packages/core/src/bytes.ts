/** Whether the value is a Uint8Array, whatever its type says. */
export function isBytes(value: unknown): value is Uint8Array {
  // By the tag and not by instanceof: a test runner's realm has a Uint8Array of its own.
  return ArrayBuffer.isView(value) && (value as Partial<Uint8Array>)[Symbol.toStringTag] === 'Uint8Array';
}

/** Whether the text has no lone surrogate, which UTF-8 cannot encode: it would stand for other texts as well. */
export function isWellFormed(text: string): boolean {
  return !/\p{Surrogate}/u.test(text);
}
