import type { DiagnosisCode } from './codes.js';
import { bytesOf } from './encodings.js';

/** Bytes that may have been signed, or a key that may have signed them, and the fault that this would prove. */
export interface Variant {
  readonly code: DiagnosisCode;
  readonly value: Uint8Array;
}

/** A variant for each value that differs from the original. A change without an effect is not a cause. */
export function* variantsOf(
  code: DiagnosisCode,
  original: Uint8Array,
  ...values: (string | Uint8Array | undefined)[]
): Generator<Variant> {
  for (const value of values) {
    const bytes = bytesOf(value);
    // An HMAC has no empty key, and an empty body has a cause of its own.
    if (bytes === undefined || (bytes.length === 0 && code !== 'body_empty')) continue;
    if (!isEqual(bytes, original)) yield { code, value: bytes };
  }
}

function isEqual(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && a.every((byte, at) => byte === b[at]);
}
