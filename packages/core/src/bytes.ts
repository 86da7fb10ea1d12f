/** Checks the tag, because a test runner's realm has its own class. */
export function isBytes(value: unknown): value is Uint8Array {
  if (!ArrayBuffer.isView(value)) return false;
  return (value as Partial<Uint8Array>)[Symbol.toStringTag] === 'Uint8Array';
}

// Made at its first use: jsdom has no TextDecoder, and core must load far enough to say so (P20).
let decoder: InstanceType<typeof TextDecoder> | undefined;

/** Decodes UTF-8 and keeps a byte order mark. Returns undefined if the bytes are not UTF-8. */
export function toText(bytes: Uint8Array): string | undefined {
  // ignoreBOM keeps a byte order mark in the text. JSON.parse then rejects the text.
  decoder ??= new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
  try {
    return decoder.decode(bytes);
  } catch {
    return undefined;
  }
}

/** UTF-8 cannot encode unpaired surrogates. */
export function isWellFormed(text: string): boolean {
  return !/\p{Surrogate}/u.test(text);
}

export function toHex(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}

/** Returns undefined for a text that is not pairs of hex digits. */
export function fromHex(text: string): Uint8Array | undefined {
  if (text.length % 2 === 1 || !/^[0-9a-f]+$/i.test(text)) return undefined;
  return Uint8Array.from(text.match(/../g)!, (pair) => Number.parseInt(pair, 16));
}
