import { toHex } from '../bytes.js';
import type { DiagnosisCode } from './codes.js';
import { fromBase64 } from './variants.js';

/** The digits in a signature header, and the faults of its form. */
export interface ParsedSignature {
  /** Lower-case hex of any length. Empty if the header has no digits to compare. */
  readonly digits: string;
  readonly codes: readonly DiagnosisCode[];
  readonly fits: (mac: string) => boolean;
}

// A longer text is never a signature, and some expressions below are not linear.
const LONGEST = 1_000;
// Fewer digits could match by chance.
const FEWEST_DIGITS = 8;

/** What other services and tools put around a signature. */
const MARKS: readonly (readonly [RegExp, DiagnosisCode])[] = [
  [/^\s+|\s+$/g, 'signature_blanks'],
  [/^["'`<]|["'`>]$/g, 'signature_quoted'],
  [/^(?:t=\d+,)?(?:(?:hmac[-_]?)?sha-?256|v\d+|signature)[=:,\s]\s*|^0x/i, 'signature_prefixed'],
];

export function parseSignature(signature: unknown): ParsedSignature {
  const list = [signature].flat().filter((value) => value !== undefined);
  // The commas of `t=…,v1=…` and `v1,…` belong to one signature.
  const texts = list.flatMap((value) =>
    typeof value === 'string' ? value.split(/(?<!^v\d),(?!v\d)/) : [],
  );
  const isForeign = texts.join('').length > LONGEST || (list.length > 0 && texts.length === 0);
  if (isForeign) return withoutDigits('signature_malformed');
  if (texts.every((text) => text.trim() === '')) return withoutDigits('signature_missing');
  const all = texts.map(parseSpelling);
  if (all.length === 1) return all[0]!;
  return {
    digits: all.map(({ digits }) => digits).join(''),
    codes: ['signature_repeated'],
    fits: (mac) => all.some(({ fits }) => fits(mac)),
  };
}

function withoutDigits(code: DiagnosisCode): ParsedSignature {
  return { digits: '', codes: [code], fits: () => false };
}

function parseSpelling(signature: string): ParsedSignature {
  const codes: DiagnosisCode[] = [];
  let text = signature;
  for (const [mark, code] of MARKS) {
    const bare = text.replace(mark, '');
    if (bare !== text) codes.push(code);
    text = bare;
  }
  const decoded = /^[\w+/-]{43}=?$/.test(text) ? fromBase64(text) : undefined;
  if (decoded !== undefined) {
    const digits = toHex(decoded);
    return { digits, codes: [...codes, 'signature_base64'], fits: (mac) => mac === digits };
  }
  const spelling = /^[0-9a-f]*/i.exec(text)![0];
  const digits = spelling.toLowerCase();
  const isHex = digits.length === text.length;
  // SHA-1 and SHA-512.
  if (isHex && [40, 128].includes(digits.length)) return withoutDigits('signature_algorithm');
  if (digits.length < (isHex ? FEWEST_DIGITS : 64)) return withoutDigits('signature_malformed');
  if (spelling !== digits) codes.push('signature_uppercase');
  if (digits.length < 64) codes.push('signature_truncated');
  else if (text.length > 64) codes.push('signature_extended');
  return { digits, codes, fits: (mac) => mac.startsWith(digits) || digits.startsWith(mac) };
}
