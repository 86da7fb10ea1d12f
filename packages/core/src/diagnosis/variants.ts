import type { DiagnosisCode } from './codes.js';
import { bytesOf } from './encodings.js';

/**
 * Bytes that the sender may have signed, or a key that it may have used, with the fault that a
 * match proves.
 */
export interface Variant {
  readonly code: DiagnosisCode;
  readonly value: Uint8Array;
}

/**
 * Returns a variant for each value that differs from the original. A change without effect is not a
 * cause.
 */
export function* variantsOf(
  code: DiagnosisCode,
  original: Uint8Array,
  ...values: (string | Uint8Array | undefined)[]
): Generator<Variant> {
  for (const value of values) {
    const bytes = bytesOf(value);
    // An HMAC key is never empty, and an empty body has its own cause.
    if (bytes === undefined || (bytes.length === 0 && code !== 'body_empty')) continue;
    if (!isEqual(bytes, original)) yield { code, value: bytes };
  }
}

function isEqual(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && a.every((byte, at) => byte === b[at]);
}
