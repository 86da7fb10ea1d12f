import { isBytes } from '../bytes.js';
import type { DiagnosisCode } from './codes.js';

/** Bytes that the sender may have signed or used as key, and the fault that a match proves. */
export interface Variant {
  readonly code?: DiagnosisCode;
  readonly value: Uint8Array;
}

export type Value = string | Uint8Array | undefined;

/** Yields each value that differs from the original. A change without effect is not a cause. */
export function* variantsOf(
  code: DiagnosisCode,
  original: Uint8Array,
  ...values: Value[]
): Generator<Variant> {
  for (const each of values) {
    const value = bytesOf(each);
    // An HMAC key is never empty, and an empty body has its own cause.
    if (value === undefined || (value.length === 0 && code !== 'body_empty')) continue;
    const isSame =
      value.length === original.length && value.every((byte, at) => byte === original[at]);
    if (!isSame) yield { code, value };
  }
}

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

/** Decodes base64 or base64url, with or without padding, and ignores whitespace. */
export function fromBase64(text: string): Uint8Array | undefined {
  return orUndefined(() => fromLatin1(atob(text.replaceAll('-', '+').replaceAll('_', '/'))));
}

export function parseJson(text: string): unknown {
  return orUndefined(() => JSON.parse(text) as unknown);
}

/** Returns undefined if `decode` throws, because its text has another form. */
export function orUndefined<T>(decode: () => T): T | undefined {
  try {
    return decode();
  } catch {
    return undefined;
  }
}
