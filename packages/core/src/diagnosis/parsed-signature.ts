import type { DiagnosisCode } from './codes.js';
import { toHex } from '../bytes.js';
import { fromBase64 } from './encodings.js';

/** The digits in a signature header, and the faults of its form. */
export interface ParsedSignature {
  /** Lower-case hex of any length. Empty if the header has no digits to compare. */
  readonly digits: string;
  readonly codes: readonly DiagnosisCode[];
  readonly fits: (mac: string) => boolean;
}

const NO_SIGNATURE = { digits: '', fits: () => false };
// A longer text is never a signature, and some expressions below are not linear.
const LONGEST = 1_000;
// Fewer digits could match by chance.
const FEWEST_DIGITS = 8;

export function parseSignature(signature: unknown): ParsedSignature {
  const list = (Array.isArray(signature) ? (signature as unknown[]) : [signature]).filter(
    (value) => value !== undefined,
  );
  // The commas of `t=…,v1=…` and `v1,…` belong to one signature.
  const texts = list.flatMap((value) =>
    typeof value === 'string' ? value.split(/(?<!^v\d),(?!v\d)/) : [],
  );
  const tooLong = texts.reduce((length, text) => length + text.length, 0) > LONGEST;
  if (tooLong || (list.length > 0 && texts.length === 0))
    return { ...NO_SIGNATURE, codes: ['signature_malformed'] };
  if (texts.every((text) => text.trim() === ''))
    return { ...NO_SIGNATURE, codes: ['signature_missing'] };
  const all = texts.map(parseSpelling);
  const [first] = all;
  if (all.length === 1) return first!;
  return {
    digits: all.map(({ digits }) => digits).join(''),
    codes: ['signature_repeated'],
    fits: (mac) => all.some(({ fits }) => fits(mac)),
  };
}

function parseSpelling(signature: string): ParsedSignature {
  const codes: DiagnosisCode[] = [];
  let text = signature;
  const strip = (pattern: RegExp, code: DiagnosisCode): void => {
    const stripped = text.replace(pattern, '');
    if (stripped === text) return;
    text = stripped;
    codes.push(code);
  };
  strip(/^\s+|\s+$/g, 'signature_blanks');
  strip(/^["'`<]|["'`>]$/g, 'signature_quoted');
  strip(
    /^(?:t=\d+,)?(?:(?:hmac[-_]?)?sha-?256|v\d+|signature)[=:,\s]\s*|^0x/i,
    'signature_prefixed',
  );

  const decoded = /^[\w+/-]{43}=?$/.test(text) ? fromBase64(text) : undefined;
  if (decoded !== undefined) {
    const digits = toHex(decoded);
    return { digits, codes: [...codes, 'signature_base64'], fits: (mac) => mac === digits };
  }
  const spelling = /^[0-9a-f]*/i.exec(text)![0];
  const digits = spelling.toLowerCase();
  if (spelling !== digits) codes.push('signature_uppercase');
  if (text.length === 64 && digits.length === 64)
    return { digits, codes, fits: (mac) => mac === digits };
  // SHA-1 and SHA-512 in hex.
  if (digits.length === text.length && [40, 128].includes(text.length))
    return { ...NO_SIGNATURE, codes: ['signature_algorithm'] };
  if (digits.length >= 64) {
    return {
      digits,
      codes: [...codes, 'signature_extended'],
      fits: (mac) => digits.startsWith(mac),
    };
  }
  if (digits.length === text.length && digits.length >= FEWEST_DIGITS) {
    return {
      digits,
      codes: [...codes, 'signature_truncated'],
      fits: (mac) => mac.startsWith(digits),
    };
  }
  return { ...NO_SIGNATURE, codes: ['signature_malformed'] };
}
