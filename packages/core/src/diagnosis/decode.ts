import { isBytes } from '../bytes.js';

/** Encodes text as UTF-8. Returns undefined for a value that is neither text nor bytes. */
export function bytesOf(value: unknown): Uint8Array | undefined {
  if (typeof value === 'string') return new TextEncoder().encode(value);
  return isBytes(value) ? value : undefined;
}

/** Maps each byte to the character with the same number. */
export function toLatin1(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => String.fromCharCode(byte)).join('');
}

/** Maps each character to a byte. Returns undefined for a character above U+00FF. */
export function fromLatin1(text: string): Uint8Array | undefined {
  if (!/^[\0-\xff]*$/.test(text)) return undefined;
  return Uint8Array.from(text, (each) => each.charCodeAt(0));
}

/** Decodes base64 or base64url, with or without padding, and ignores whitespace. */
export function fromBase64(text: string): Uint8Array | undefined {
  try {
    return fromLatin1(atob(text.replaceAll('-', '+').replaceAll('_', '/')));
  } catch {
    return undefined;
  }
}

export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}
