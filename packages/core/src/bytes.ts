/** Whether the value is a Uint8Array. By its tag, because a test runner's realm has its own class. */
export function isBytes(value: unknown): value is Uint8Array {
  if (!ArrayBuffer.isView(value)) return false;
  return (value as Partial<Uint8Array>)[Symbol.toStringTag] === 'Uint8Array';
}

// ignoreBOM keeps a byte order mark in the text. JSON.parse then refuses it.
const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** The text, a byte order mark included, or undefined if the bytes are not UTF-8. */
export function toText(bytes: Uint8Array): string | undefined {
  try {
    return decoder.decode(bytes);
  } catch {
    return undefined;
  }
}

/** Whether the text has no unpaired surrogate, which UTF-8 cannot encode. */
export function isWellFormed(text: string): boolean {
  return !/\p{Surrogate}/u.test(text);
}
