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
  values: Iterable<Value>,
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

/** Returns undefined if `decode` throws, because its text has another form. */
export function tryDecode<T>(decode: () => T): T | undefined {
  try {
    return decode();
  } catch {
    return undefined;
  }
}

// oxfmt-ignore
const ENTITIES = Object.entries(
  { '&': '&amp;', '"': '&quot;', "'": '&#39;', '<': '&lt;', '>': '&gt;' },
);

/** Undoes and applies the escapes of URLs, forms, JSON, shells and HTML. */
export function escapesOf(text: string): Value[] {
  const json = parseJson(`"${text}"`);
  return [
    tryDecode(() => decodeURIComponent(text)),
    tryDecode(() => decodeURIComponent(text.replaceAll('+', ' ').replace(/^\w+=/, ''))),
    tryDecode(() => encodeURIComponent(text)),
    tryDecode(() => encodeURIComponent(text).replaceAll('%20', '+')),
    ...[text.replaceAll('+', ' '), text.replaceAll(' ', '+')],
    ...[typeof json === 'string' ? json : undefined, JSON.stringify(text).slice(1, -1)],
    ...[text.replace(/\\(.)/gs, '$1'), text.replaceAll('$$', '$')],
    ENTITIES.reduceRight((rest, [at, to]) => rest.replaceAll(to, at), text),
    ENTITIES.reduce((rest, [at, to]) => rest.replaceAll(at, to), text),
  ];
}
