import { isBytes, toText } from '../bytes.js';
import type { DiagnosisCode } from './codes.js';

/** Bytes that the sender may have signed or used as key, and the fault that a match proves. */
export interface Variant {
  readonly code?: DiagnosisCode;
  readonly value: Uint8Array;
}

/** Undoes one fault. Receives bytes that are not UTF-8 as Latin-1 text. */
export type Change = readonly [
  DiagnosisCode,
  (text: string, bytes: Uint8Array) => Iterable<string | Uint8Array | undefined>,
];

/** Yields each value that differs from the original. A change without effect is not a cause. */
export function* variantsOf(
  original: Uint8Array,
  changes: readonly Change[],
): Generator<Variant & { readonly code: DiagnosisCode }> {
  const text = toText(original) ?? toLatin1(original);
  for (const [code, change] of changes) {
    for (const each of change(text, original)) {
      const value = bytesOf(each);
      // An HMAC key is never empty, and an empty body has its own cause.
      if (value === undefined || (value.length === 0 && code !== 'body_empty')) continue;
      const isSame =
        value.length === original.length && value.every((byte, at) => byte === original[at]);
      if (!isSame) yield { code, value };
    }
  }
}

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
  return tryDecode(() => fromLatin1(atob(text.replaceAll('-', '+').replaceAll('_', '/'))));
}

export function parseJson(text: string): unknown {
  return tryDecode(() => JSON.parse(text) as unknown);
}

function tryDecode<T>(decode: () => T): T | undefined {
  try {
    return decode();
  } catch {
    return undefined;
  }
}

const ENTITIES: Partial<Record<string, string>> = { amp: '&', quot: '"', lt: '<', gt: '>' };

/** Undoes the escapes of URLs, forms, JSON, shells and HTML, and applies those of URLs and JSON. */
export function escapesOf(text: string): (string | undefined)[] {
  return [
    tryDecode(() => decodeURIComponent(text)),
    tryDecode(() => decodeURIComponent(text.replaceAll('+', ' ').replace(/^\w+=/, ''))),
    tryDecode(() => encodeURIComponent(text)),
    tryDecode(() => String(JSON.parse(`"${text}"`))),
    JSON.stringify(text).slice(1, -1),
    text.replace(/\\(.)/gs, '$1'),
    text.replace(/&(\w+);/g, (entity, name: string) => ENTITIES[name] ?? entity),
  ];
}
