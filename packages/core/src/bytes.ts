/** Whether the value is a Uint8Array. By its tag, because a test runner's realm has its own class. */
export function isBytes(value: unknown): value is Uint8Array {
  if (!ArrayBuffer.isView(value)) return false;
  return (value as Partial<Uint8Array>)[Symbol.toStringTag] === 'Uint8Array';
}

/** Whether the text has no unpaired surrogate, which UTF-8 cannot encode. */
export function isWellFormed(text: string): boolean {
  return !/\p{Surrogate}/u.test(text);
}
