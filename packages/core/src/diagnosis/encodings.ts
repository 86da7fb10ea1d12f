import { isBytes } from '../bytes.js';

export function bytesOf(value: unknown): Uint8Array | undefined {
  if (typeof value === 'string') return new TextEncoder().encode(value);
  return isBytes(value) ? value : undefined;
}

// Longer pieces would overflow the stack, because each byte becomes an argument.
const PIECE = 8_192;

/** Maps each byte to the character with the same number. */
export function toLatin1(bytes: Uint8Array): string {
  let text = '';
  for (let at = 0; at < bytes.length; at += PIECE)
    text += String.fromCharCode(...bytes.subarray(at, at + PIECE));
  return text;
}

/** Maps each character to a byte. All characters must be below U+0100. */
export function fromLatin1(text: string): Uint8Array {
  const bytes = new Uint8Array(text.length);
  for (let at = 0; at < text.length; at++) bytes[at] = text.charCodeAt(at);
  return bytes;
}

export function toBase64(bytes: Uint8Array): string {
  return btoa(toLatin1(bytes));
}

/** Decodes base64 or base64url, with or without padding, and ignores whitespace. */
export function fromBase64(text: string): Uint8Array | undefined {
  try {
    return fromLatin1(atob(text.replaceAll('-', '+').replaceAll('_', '/')));
  } catch {
    return undefined;
  }
}
